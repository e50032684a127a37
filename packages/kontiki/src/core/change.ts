import type { PeerSet } from '../protocol/configuration.js';
import type { CoreState } from './state.js';
import type { ConfigurationFailure } from './types.js';

/** A change of the configuration that a client waits for. One at a time. */
export interface PendingChange {
  readonly requestId: number;
  /** What the group is to become, while new peers are brought up (spec: consensus 4.2). */
  staging: PeerSet | undefined;
}

/** The new configuration is committed (spec: consensus 4.4). */
export function finishChange(s: CoreState): void {
  const change = s.leader?.change;
  if (s.leader === undefined || change === undefined || change.staging !== undefined) return;
  s.leader.change = undefined;
  s.emit({ kind: 'configurationDone', requestId: change.requestId });
}

/** The client is told why; what was appended may be committed nevertheless. */
export function failChange(s: CoreState, failure: ConfigurationFailure): void {
  const change = s.leader?.change;
  if (s.leader === undefined || change === undefined) return;
  s.leader.change = undefined;
  s.emit({ kind: 'configurationFailed', requestId: change.requestId, failure });
}

/** No other change may begin before the last one is complete and committed (spec: 4.1 check 2). */
export function isChanging(s: CoreState): boolean {
  const conf = s.configurations.current;
  return conf.old !== undefined || s.leader?.change !== undefined || s.commitIndex < conf.index;
}
