import type { RaftPeerId } from '../protocol/ids.js';
import type { EngineCommand } from './types.js';

/**
 * A transfer of leadership that is under way (spec: consensus 2.9). It outlives the office, because
 * its outcome is known only when the next leader is.
 */
export interface Transfer {
  /** Above 0. */
  readonly id: number;
  readonly target: RaftPeerId;
  /** Who waits for the outcome; nobody when the leader yields by itself. */
  readonly requestIds: number[];
  deadlineMs: number;
  /** The target was asked to campaign. */
  isAsked: boolean;
}

interface TransferHolder {
  readonly selfId: RaftPeerId;
  transfer: Transfer | undefined;
  emit(command: EngineCommand): void;
}

/** A leader is known: the transfer succeeded if it is the target (spec: consensus 2.9 step 5). */
export function settleTransfer(s: TransferHolder, leaderId: RaftPeerId): void {
  const { transfer } = s;
  if (transfer === undefined) return;
  if (leaderId !== transfer.target) {
    failTransfer(s, `${leaderId} became the leader`);
    return;
  }
  s.transfer = undefined;
  for (const requestId of transfer.requestIds) s.emit({ kind: 'transferDone', requestId });
}

export function failTransfer(s: TransferHolder, reason: string): void {
  const { transfer } = s;
  if (transfer === undefined) return;
  s.transfer = undefined;
  const message = `${s.selfId}: failed to transfer leadership to ${transfer.target}: ${reason}`;
  for (const requestId of transfer.requestIds) {
    s.emit({ kind: 'transferFailed', requestId, failure: { kind: 'refused', message } });
  }
}
