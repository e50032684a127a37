export { type FileRead, FileStoreClient, type WriteAnswer, type WriteFlags } from './client.js';
export { READ_BYTES_MAX } from './file-queries.js';
export { type FileStoreOptions, FileStoreStateMachine } from './file-store-state-machine.js';
export {
  type FileSource,
  generateLoad,
  hashFile,
  type LoadOptions,
  type LoadResult,
  localSource,
  memorySource,
  type ReadBackOptions,
  randomSource,
  type UploadOptions,
  uploadFile,
  verifyFiles,
  type WrittenFile,
} from './loadgen.js';
export {
  decodeRequest,
  encodeLogHeader,
  encodeWrite,
  type FileStoreRequest,
  layOutWrite,
  type WriteHeader,
  type WriteMessage,
} from './messages.js';
