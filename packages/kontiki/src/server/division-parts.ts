import type { Logger } from '../common/logger.js';
import type { Runtime } from '../common/runtime.js';
import type { RaftEngine } from '../core/types.js';
import type { RaftGroupId, RaftPeerId } from '../protocol/ids.js';
import type { RaftPeer } from '../protocol/peer.js';
import type { PeerStubs } from '../rpc/ratis/server/peer-stubs.js';
import type { VirtualFileSystem } from '../runtime/index.js';
import type { StateMachine } from '../statemachine/types.js';
import type { RaftLog, RaftStorage } from '../storage/types.js';
import type { CommitInfos } from './commit-infos.js';
import type { OperatorLog } from './operator-log.js';
import type { PendingWrite } from './pending-write.js';
import type { Replies } from './replies.js';
import type { RetryCache } from './retry-cache.js';
import type { ServerConfig } from './server-config.js';

/** What the parts of one division share. Made when the division starts. */
export interface DivisionParts {
  readonly selfId: RaftPeerId;
  readonly groupId: RaftGroupId;
  /** `peer@group`. */
  readonly memberId: string;
  readonly config: ServerConfig;
  readonly fileSystem: VirtualFileSystem;
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly operatorLog: OperatorLog;
  readonly stateMachine: StateMachine;
  readonly storage: RaftStorage;
  readonly log: RaftLog;
  readonly engine: RaftEngine;
  readonly commitInfos: CommitInfos;
  readonly retryCache: RetryCache<PendingWrite>;
  readonly replies: Replies;
  /** Connections to a peer; undefined without an address. */
  stubsOf(peer: RaftPeer): PeerStubs | undefined;
  nowMs(): number;
  /**
   * Carries an input to the engine out in its turn; at once unless one is under way. False: the
   * division is closed.
   */
  submit(input: () => void): boolean;
  /** True while an input is carried out. */
  isBusy(): boolean;
  /** Has commands and work looked after at the end of this turn. */
  settleLater(): void;
  /** The division serves: its life cycle is RUNNING (spec: consensus 1.1). */
  isRunning(): boolean;
  /** This division is lost: logged, closed, clients get errors. */
  fail(error: Error): void;
}
