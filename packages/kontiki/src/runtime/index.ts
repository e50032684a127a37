export { loadNativeModule, type NativeModule } from './native-module.js';
export { type ConsoleLoggerOptions, createConsoleLogger, type LogStream } from './node-logger.js';
export { nodeRuntime } from './node-runtime.js';
export { FileLockUnsupportedError, systemCodeOf } from './vfs/errors.js';
export { nodeFileSystem } from './vfs/node-file-system.js';
export type {
  DirectoryEntry,
  FileLock,
  VirtualFile,
  VirtualFileSystem,
} from './vfs/types.js';
