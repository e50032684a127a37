/**
 * Kontiki: Raft consensus for Node.js, compatible with Apache Ratis on the wire and on disk.
 * Servers are made by `RaftServer.create`, clients by `RaftClient`; an application is a
 * `StateMachine`, most easily a `BaseStateMachine`.
 */
export * from './client/index.js';
export { AssertionFailedError, InvalidArgumentError, KontikiError } from './common/errors.js';
export {
  LOG_LEVELS,
  type Logger,
  type LogLevel,
  NULL_LOGGER,
  withPrefix,
} from './common/logger.js';
export type { Clock, Random, Runtime, Timer, Timers } from './common/runtime.js';
export { ConfigurationError } from './config/errors.js';
export { type PropertiesContext, RaftProperties } from './config/raft-properties.js';
export type { KeyName, KeyValue, RaftOptions } from './config/registry.js';
export { MalformedMessageError } from './proto/wire/errors.js';
export type { LogEntry, StateMachineBody } from './proto/wire/types.js';
export * from './protocol/configuration.js';
export * from './protocol/exceptions.js';
export * from './protocol/group.js';
export * from './protocol/ids.js';
export * from './protocol/peer.js';
export * from './protocol/peer-syntax.js';
export * from './protocol/requests.js';
export * from './protocol/term-index.js';
export { ConnectionError, GrpcTransport, TlsConfigurationError } from './rpc/grpc/index.js';
export { ListenError } from './rpc/listen-error.js';
export { MemoryNetwork, MemoryTransport } from './rpc/memory/index.js';
export type { PemSource, RpcTransport, TlsOptions } from './rpc/transport.js';
export {
  type ConsoleLoggerOptions,
  createConsoleLogger,
  nodeFileSystem,
  nodeRuntime,
  type VirtualFileSystem,
} from './runtime/index.js';
export * from './server/index.js';
export * from './statemachine/index.js';
export * from './storage/errors.js';
export type { RaftStorage } from './storage/types.js';
