export { MemoryNetwork } from './network.js';
export { MemoryTransport, type MemoryTransportOptions } from './transport.js';
