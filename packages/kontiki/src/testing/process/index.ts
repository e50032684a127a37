export { findFreePorts } from './free-ports.js';
export { ProcessCluster, type ProcessClusterOptions } from './process-cluster.js';
export { type ProcessUsage, readProcessUsage } from './process-usage.js';
export { type ProcessExit, ServerProcess, type ServerProcessOptions } from './server-process.js';
