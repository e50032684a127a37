export { GrpcChannel } from './channel.js';
export { ConnectionError, TlsConfigurationError } from './errors.js';
export { GrpcServer } from './server.js';
export { GrpcTransport, type GrpcTransportOptions } from './transport.js';
