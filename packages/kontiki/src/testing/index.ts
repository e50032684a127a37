/**
 * For tests and measurements: clusters in one process and in processes of their own, certificates,
 * and the parts that the benchmarks measure by themselves. Less stable than the library itself.
 */
export { Histogram, type HistogramSnapshot } from '../metrics/histogram.js';
export { createStateMachineEntry } from '../proto/wire/index.js';
export {
  OK_STATUS,
  type RpcChannel,
  type RpcServer,
  type RpcStream,
  type TransportLimits,
} from '../rpc/transport.js';
export {
  type CertificateAuthority,
  type CertificateRequest,
  createCertificateAuthority,
  type IssuedCertificate,
} from '../runtime/certificates.js';
export { openLog, openStorage } from '../storage/index.js';
export type { RaftLog, RaftLogConfig } from '../storage/types.js';
export { MiniCluster, type MiniClusterOptions } from './mini-cluster.js';
export * from './process/index.js';
