import type { RaftProperties } from '../config/raft-properties.js';
import { checkServerProperties } from '../config/server-checks.js';
import type { EngineConfig } from '../core/types.js';
import type { TransportLimits } from '../rpc/transport.js';
import type { RaftLogConfig } from '../storage/types.js';
import { parseRetryPauses } from './retry-pauses.js';

/**
 * Everything that a server reads from its configuration, with types; milliseconds, bytes and
 * counts.
 */
export interface ServerConfig {
  readonly engine: EngineConfig;
  readonly log: RaftLogConfig;
  readonly transport: TransportLimits;
  readonly snapshot: SnapshotConfig;
  readonly listeners: ListenerConfig;
  readonly storageDirs: readonly string[];
  readonly freeSpaceMinBytes: number;
  readonly removedGroupsDir: string;
  /** A pause of the process beyond it closes the server (spec: consensus 1.7). */
  readonly closeThresholdMs: number;
  readonly readOption: 'DEFAULT' | 'LINEARIZABLE';
  readonly readTimeoutMs: number;
  readonly writeIndexExpiryMs: number;
  readonly writeElementLimit: number;
  readonly writeByteLimit: number;
  readonly watchElementLimit: number;
  readonly watchTimeoutMs: number;
  readonly watchDenominationMs: number;
  readonly retryCacheExpiryMs: number;
  readonly rpcRequestTimeoutMs: number;
  readonly appendByteLimit: number;
  /** 0 is no limit. */
  readonly appendElementLimit: number;
  readonly heartbeatChannel: boolean;
  /** The log is in memory only (spec: storage 12). */
  readonly useMemoryLog: boolean;
}

/** When snapshots are taken, and what is purged after (spec: storage 10.4). */
export interface SnapshotConfig {
  readonly autoTrigger: boolean;
  readonly autoTriggerThreshold: number;
  readonly triggerWhenStop: boolean;
  readonly triggerWhenRemove: boolean;
  readonly creationGap: number;
  readonly retentionFileNum: number;
  readonly purgeUptoSnapshotIndex: boolean;
  readonly install: SnapshotInstallConfig;
}

/** How snapshots get to followers (spec: consensus 5.3, 5.4). */
export interface SnapshotInstallConfig {
  /** Files are sent in chunks; false: followers are told, and fetch them by themselves. */
  readonly chunksEnabled: boolean;
  readonly chunkSizeMaxBytes: number;
  /** Unanswered requests at once. */
  readonly requestElementLimit: number;
  /** A request must be answered within `requestElementLimit` times this. */
  readonly requestTimeoutMs: number;
}

/** Addresses of the three services (spec: wire-grpc 3.2); a port of -1 is the server's. */
export interface ListenerConfig {
  readonly server: { readonly host: string | undefined; readonly port: number };
  readonly client: { readonly host: string | undefined; readonly port: number };
  readonly admin: { readonly host: string | undefined; readonly port: number };
}

/** Reads the configuration. Throws ConfigurationError on a value that is not acceptable. */
export function readServerConfig(properties: RaftProperties): ServerConfig {
  checkServerProperties(properties);
  const get = properties.get.bind(properties) as RaftProperties['get'];
  return {
    engine: engineConfig(properties),
    log: logConfig(properties),
    transport: transportLimits(properties),
    snapshot: snapshotConfig(properties),
    listeners: listenerConfig(properties),
    storageDirs: get('raft.server.storage.dir'),
    freeSpaceMinBytes: get('raft.server.storage.free-space.min'),
    removedGroupsDir: get('raft.server.removed.groups.dir'),
    closeThresholdMs: get('raft.server.close.threshold'),
    readOption: get('raft.server.read.option'),
    readTimeoutMs: get('raft.server.read.timeout'),
    writeIndexExpiryMs: get(
      'raft.server.read.read-after-write-consistent.write-index-cache.expiry-time',
    ),
    writeElementLimit: get('raft.server.write.element-limit'),
    writeByteLimit: get('raft.server.write.byte-limit'),
    watchElementLimit: get('raft.server.watch.element-limit'),
    watchTimeoutMs: get('raft.server.watch.timeout'),
    watchDenominationMs: get('raft.server.watch.timeout.denomination'),
    retryCacheExpiryMs: get('raft.server.retrycache.expirytime'),
    rpcRequestTimeoutMs: get('raft.server.rpc.request.timeout'),
    appendByteLimit: get('raft.server.log.appender.buffer.byte-limit'),
    appendElementLimit: get('raft.server.log.appender.buffer.element-limit'),
    heartbeatChannel: get('raft.grpc.server.heartbeat.channel'),
    useMemoryLog: get('raft.server.log.use.memory'),
  };
}

function engineConfig(properties: RaftProperties): EngineConfig {
  return {
    rpcTimeoutMinMs: properties.get('raft.server.rpc.timeout.min'),
    rpcTimeoutMaxMs: properties.get('raft.server.rpc.timeout.max'),
    firstElectionTimeoutMinMs: properties.get('raft.server.rpc.first-election.timeout.min'),
    firstElectionTimeoutMaxMs: properties.get('raft.server.rpc.first-election.timeout.max'),
    rpcRequestTimeoutMs: properties.get('raft.server.rpc.request.timeout'),
    rpcSlownessTimeoutMs: properties.get('raft.server.rpc.slowness.timeout'),
    stepDownWaitTimeMs: properties.get('raft.server.leaderelection.leader.step-down.wait-time'),
    preVote: properties.get('raft.server.leaderelection.pre-vote'),
    noLeaderTimeoutMs: properties.get('raft.server.notification.no-leader.timeout'),
    sleepDeviationThresholdMs: properties.get('raft.server.sleep.deviation.threshold'),
    logMetadataEnabled: properties.get('raft.server.log.log-metadata.enabled'),
    composeEnabled: properties.get('raft.server.log.append-entries.compose.enabled'),
    snapshotByNotification: !properties.get('raft.server.log.appender.install.snapshot.enabled'),
    outstandingAppendsMax: properties.get('raft.grpc.server.leader.outstanding.appends.max'),
    appenderWaitTimeMinMs: properties.get('raft.server.log.appender.wait-time.min'),
    appenderRetryPauses: parseRetryPauses(properties.get('raft.server.log.appender.retry.policy')),
    followerGapRatioMax: properties.get('raft.server.write.follower.gap.ratio.max'),
    writeElementLimit: properties.get('raft.server.write.element-limit'),
    readTimeoutMs: properties.get('raft.server.read.timeout'),
    stagingTimeoutMs: properties.get('raft.server.staging.timeout'),
    stagingCatchupGap: properties.get('raft.server.staging.catchup.gap'),
    memberMajorityAdd: properties.get('raft.server.leaderelection.member.majority-add'),
  };
}

function logConfig(properties: RaftProperties): RaftLogConfig {
  return {
    segmentSizeMaxBytes: properties.get('raft.server.log.segment.size.max'),
    preallocatedSizeBytes: properties.get('raft.server.log.preallocated.size'),
    writeBufferSizeBytes: properties.get('raft.server.log.write.buffer.size'),
    segmentCacheNumMax: properties.get('raft.server.log.segment.cache.num.max'),
    segmentCacheSizeMaxBytes: properties.get('raft.server.log.segment.cache.size.max'),
    queueElementLimit: properties.get('raft.server.log.queue.element-limit'),
    queueByteLimitBytes: properties.get('raft.server.log.queue.byte-limit'),
    entrySizeMaxBytes: properties.get('raft.server.log.appender.buffer.byte-limit'),
    corruptionPolicy: properties.get('raft.server.log.corruption.policy'),
    purgeGap: properties.get('raft.server.log.purge.gap'),
    purgePreservationLogNum: properties.get('raft.server.log.purge.preservation.log.num'),
    stateMachineDataSync: properties.get('raft.server.log.statemachine.data.sync'),
    stateMachineDataSyncTimeoutMs: properties.get('raft.server.log.statemachine.data.sync.timeout'),
    stateMachineDataSyncTimeoutRetry: properties.get(
      'raft.server.log.statemachine.data.sync.timeout.retry',
    ),
    stateMachineDataReadTimeoutMs: properties.get('raft.server.log.statemachine.data.read.timeout'),
    stateMachineDataCachingEnabled: properties.get(
      'raft.server.log.statemachine.data.caching.enabled',
    ),
    asyncFlushEnabled: properties.get('raft.server.log.async-flush.enabled'),
    unsafeFlushEnabled: properties.get('raft.server.log.unsafe-flush.enabled'),
  };
}

function snapshotConfig(properties: RaftProperties): SnapshotConfig {
  return {
    autoTrigger: properties.get('raft.server.snapshot.auto.trigger.enabled'),
    autoTriggerThreshold: properties.get('raft.server.snapshot.auto.trigger.threshold'),
    triggerWhenStop: properties.get('raft.server.snapshot.trigger-when-stop.enabled'),
    triggerWhenRemove: properties.get('raft.server.snapshot.trigger-when-remove.enabled'),
    creationGap: properties.get('raft.server.snapshot.creation.gap'),
    retentionFileNum: properties.get('raft.server.snapshot.retention.file.num'),
    purgeUptoSnapshotIndex: properties.get('raft.server.log.purge.upto.snapshot.index'),
    install: {
      chunksEnabled: properties.get('raft.server.log.appender.install.snapshot.enabled'),
      chunkSizeMaxBytes: properties.get('raft.server.log.appender.snapshot.chunk.size.max'),
      requestElementLimit: properties.get(
        'raft.grpc.server.install_snapshot.request.element-limit',
      ),
      requestTimeoutMs: properties.get('raft.grpc.server.install_snapshot.request.timeout'),
    },
  };
}

/** Limits of connections (spec: wire-grpc 3.1); what Ratis has no key for is fixed. */
export function transportLimits(properties: RaftProperties): TransportLimits {
  const messageBytes = properties.get('raft.grpc.message.size.max');
  return {
    maxInboundMessageBytes: messageBytes,
    maxOutboundMessageBytes: messageBytes,
    flowControlWindowBytes: properties.get('raft.grpc.flow.control.window'),
    sendBufferBytes: 1024 * 1024,
    maxHeaderListBytes: 64 * 1024,
    keepaliveTimeMs: 0,
    keepaliveTimeoutMs: 20_000,
    reconnectBackoffMinMs: 50,
    reconnectBackoffMaxMs: 1000,
    connectTimeoutMs: properties.get('raft.server.rpc.request.timeout'),
  };
}

function listenerConfig(properties: RaftProperties): ListenerConfig {
  const host = properties.get('raft.grpc.server.host');
  return {
    server: { host, port: properties.get('raft.grpc.server.port') },
    client: {
      host: properties.get('raft.grpc.client.host') ?? host,
      port: properties.get('raft.grpc.client.port') ?? -1,
    },
    admin: {
      host: properties.get('raft.grpc.admin.host') ?? host,
      port: properties.get('raft.grpc.admin.port') ?? -1,
    },
  };
}
