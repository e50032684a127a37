import { messageOf } from '../common/errors.js';
import type { PeerSet } from '../protocol/configuration.js';
import { isChanging } from './change.js';
import { addsMajority, isNoChange, newcomers, newMembers } from './new-members.js';
import { beginStaging, enterJoint } from './staging.js';
import type { CoreState } from './state.js';
import type { ConfigurationFailure, SetConfigurationRequest } from './types.js';

type Checked = { readonly members: PeerSet } | { readonly failure: ConfigurationFailure };

/** A client asks for other members; the checks in the order of consensus 4.1. */
export function setConfiguration(
  s: CoreState,
  requestId: number,
  request: SetConfigurationRequest,
): void {
  const checked = check(s, request);
  const { leader } = s;
  if ('failure' in checked || leader === undefined) {
    const failure: ConfigurationFailure =
      'failure' in checked ? checked.failure : { kind: 'notLeader' };
    s.emit({ kind: 'configurationFailed', requestId, failure });
    return;
  }
  const { cur } = s.configurations.current;
  const { members } = checked;
  if (isNoChange(cur, members)) {
    s.emit({ kind: 'configurationDone', requestId });
    return;
  }
  if (addsMajority(cur, members) && !s.config.memberMajorityAdd) {
    const message = `${s.selfId}: the new members would be a majority of the new configuration`;
    const failure = { kind: 'refused', message } as const;
    s.emit({ kind: 'configurationFailed', requestId, failure });
    return;
  }
  leader.change = { requestId, staging: undefined };
  const added = newcomers(cur, members);
  if (added.length === 0) enterJoint(s, members);
  else beginStaging(s, leader, members, added);
}

function check(s: CoreState, request: SetConfigurationRequest): Checked {
  const state = s.leaderCheck(false);
  if (state !== 'ok') return { failure: { kind: state } };
  if (isChanging(s)) {
    const message = `${s.selfId}: another change of the configuration is in progress`;
    return { failure: { kind: 'inProgress', message } };
  }
  let members: PeerSet | undefined;
  try {
    members = newMembers(s.configurations.current, request);
  } catch (error) {
    return { failure: { kind: 'invalid', message: messageOf(error) } };
  }
  if (members === undefined) {
    const message = `${s.selfId}: the current members are not those that the request expects`;
    return { failure: { kind: 'refused', message } };
  }
  if (members.voters.length === 0) {
    return { failure: { kind: 'invalid', message: 'a group needs a voter' } };
  }
  return { members };
}
