import { InvalidArgumentError } from '../../common/errors.js';
import {
  AlreadyClosedException,
  DataStreamException,
  LeaderNotReadyException,
  LeaderSteppingDownException,
  NotLeaderException,
  NotReplicatedException,
  RaftException,
  ReadException,
  ReadIndexException,
  StateMachineException,
  TransferLeadershipException,
} from '../../protocol/exceptions.js';
import { memberIdText } from '../../protocol/ids.js';
import {
  AlreadyClosedExceptionProtoSchema,
  LeaderNotReadyExceptionProtoSchema,
  NotLeaderExceptionProtoSchema,
  NotReplicatedExceptionProtoSchema,
  StateMachineExceptionProtoSchema,
  ThrowableProtoSchema,
} from '../gen/ratis/common/exceptions_pb.js';
import { MalformedMessageError } from '../wire/errors.js';
import { decodeUtf8, utf8Of } from '../wire/text.js';
import { isReplicationLevel } from './client-request.js';
import { exceptionOfClass } from './exception-class.js';
import { parseMessage, serialize } from './message.js';
import { toCallId, toInteger, toUint64 } from './numbers.js';
import { groupIdFromProto, peerFromProto, peerToProto } from './peer.js';

/** Fields of the oneof ExceptionDetails (spec: wire-grpc 6.2). */
export const ExceptionCase = {
  NONE: 0,
  NOT_LEADER: 3,
  NOT_REPLICATED: 4,
  STATE_MACHINE: 5,
  LEADER_NOT_READY: 6,
  ALREADY_CLOSED: 7,
  DATA_STREAM: 8,
  LEADER_STEPPING_DOWN: 9,
  TRANSFER_LEADERSHIP: 10,
  READ: 11,
  READ_INDEX: 12,
} as const;

/** An empty stack trace in Java serialization: Java receivers need one (spec: wire-grpc 6.2). */
export const EMPTY_STACK_TRACE: Uint8Array = Uint8Array.from(
  (
    'aced00057572001e5b4c6a6176612e6c616e672e537461636b5472616365456c656d656e743b' +
    '02462a3c3cfd2239020000787000000000'
  ).match(/../g) ?? [],
  (digits) => Number.parseInt(digits, 16),
);

/** Exceptions that travel as class and message. */
const THROWABLES = new Map<
  number,
  new (
    message: string,
    options?: { cause?: unknown },
  ) => RaftException
>([
  [ExceptionCase.DATA_STREAM, DataStreamException],
  [ExceptionCase.LEADER_STEPPING_DOWN, LeaderSteppingDownException],
  [ExceptionCase.TRANSFER_LEADERSHIP, TransferLeadershipException],
  [ExceptionCase.READ, ReadException],
  [ExceptionCase.READ_INDEX, ReadIndexException],
]);

/**
 * The field that an exception travels in, `NONE` when replies cannot carry it (spec: client 3.3).
 */
export function exceptionCaseOf(exception: Error): number {
  if (exception instanceof NotLeaderException) return ExceptionCase.NOT_LEADER;
  if (exception instanceof NotReplicatedException) return ExceptionCase.NOT_REPLICATED;
  if (exception instanceof StateMachineException) return ExceptionCase.STATE_MACHINE;
  if (exception instanceof LeaderNotReadyException) return ExceptionCase.LEADER_NOT_READY;
  if (exception instanceof AlreadyClosedException) return ExceptionCase.ALREADY_CLOSED;
  for (const [field, type] of THROWABLES) if (exception instanceof type) return field;
  return ExceptionCase.NONE;
}

function serializeException(exception: RaftException): Uint8Array | undefined {
  if (exception instanceof NotLeaderException) {
    const { suggestedLeader, peers } = exception;
    return serialize(NotLeaderExceptionProtoSchema, {
      ...(suggestedLeader === undefined ? {} : { suggestedLeader: peerToProto(suggestedLeader) }),
      peersInConf: peers.map(peerToProto),
    });
  }
  if (exception instanceof NotReplicatedException) {
    const { callId, replication, logIndex } = exception;
    return serialize(NotReplicatedExceptionProtoSchema, {
      callId: toUint64(callId),
      replication,
      logIndex: toUint64(logIndex),
    });
  }
  if (exception instanceof StateMachineException) {
    return serialize(StateMachineExceptionProtoSchema, {
      exceptionClassName: exception.causeClass,
      errorMsg: exception.causeMessage,
      stacktrace: EMPTY_STACK_TRACE,
    });
  }
  if (exception instanceof LeaderNotReadyException) {
    const { peerId, groupIdBytes } = exception;
    const serverId = { peerId: utf8Of(peerId), groupId: { id: groupIdBytes } };
    return serialize(LeaderNotReadyExceptionProtoSchema, { serverId });
  }
  if (exception instanceof AlreadyClosedException) {
    const { cause } = exception;
    return serialize(AlreadyClosedExceptionProtoSchema, {
      exceptionClassName: cause instanceof RaftException ? cause.javaClass : exception.javaClass,
      errorMsg: exception.message,
      stacktrace: EMPTY_STACK_TRACE,
    });
  }
  const { javaClass: className, message: errorMessage } = exception;
  return serialize(ThrowableProtoSchema, { className, errorMessage });
}

/**
 * Case and serialized message of an exception in a reply. Throws InvalidArgumentError when replies
 * cannot carry it.
 */
export function replyExceptionToWire(exception: RaftException): {
  exceptionCase: number;
  exception: Uint8Array | undefined;
} {
  const exceptionCase = exceptionCaseOf(exception);
  if (exceptionCase === ExceptionCase.NONE) {
    throw new InvalidArgumentError(`a reply cannot carry a ${exception.name}`);
  }
  return { exceptionCase, exception: serializeException(exception) };
}

function notReplicated(bytes: Uint8Array): NotReplicatedException {
  const proto = parseMessage(NotReplicatedExceptionProtoSchema, bytes);
  const { replication } = proto;
  if (!isReplicationLevel(replication)) {
    throw new MalformedMessageError(`unknown replication level ${replication}`);
  }
  return new NotReplicatedException(toCallId(proto.callId), replication, toInteger(proto.logIndex));
}

function leaderNotReady(bytes: Uint8Array): LeaderNotReadyException {
  const { serverId } = parseMessage(LeaderNotReadyExceptionProtoSchema, bytes);
  const peerId = decodeUtf8(serverId?.peerId ?? new Uint8Array(0));
  if (peerId === '') throw new MalformedMessageError('leader without an id');
  const groupId = groupIdFromProto(serverId?.groupId);
  return new LeaderNotReadyException(memberIdText(peerId, groupId), peerId, groupId.bytes);
}

function stateMachine(bytes: Uint8Array, memberId: string | undefined): StateMachineException {
  const proto = parseMessage(StateMachineExceptionProtoSchema, bytes);
  const { exceptionClassName, errorMsg } = proto;
  const cause = exceptionOfClass(exceptionClassName, errorMsg);
  return new StateMachineException(
    memberId,
    exceptionClassName,
    errorMsg,
    cause === undefined ? {} : { cause },
  );
}

function throwable(field: number, bytes: Uint8Array): RaftException | undefined {
  const type = THROWABLES.get(field);
  if (type === undefined) return undefined;
  const { className, errorMessage } = parseMessage(ThrowableProtoSchema, bytes);
  const exception = new type(errorMessage);
  if (className !== exception.javaClass) {
    throw new MalformedMessageError(`class ${className} in the place of ${exception.javaClass}`);
  }
  return exception;
}

/**
 * The exception in a reply; stack traces and serialized causes are ignored (spec: client 14.1).
 * `memberId` is the replier, for messages. A case that is not known reads as no exception (spec:
 * wire-grpc 11, quirk 19). Throws MalformedMessageError.
 */
export function replyExceptionFromWire(
  exceptionCase: number,
  bytes: Uint8Array,
  memberId?: string,
): RaftException | undefined {
  switch (exceptionCase) {
    case ExceptionCase.NOT_LEADER: {
      const proto = parseMessage(NotLeaderExceptionProtoSchema, bytes);
      const leader = proto.suggestedLeader;
      const suggested = leader === undefined ? undefined : peerFromProto(leader);
      const peers = proto.peersInConf.map(peerFromProto);
      return new NotLeaderException(memberId ?? '(unnamed)', suggested, peers);
    }
    case ExceptionCase.NOT_REPLICATED:
      return notReplicated(bytes);
    case ExceptionCase.STATE_MACHINE:
      return stateMachine(bytes, memberId);
    case ExceptionCase.LEADER_NOT_READY:
      return leaderNotReady(bytes);
    case ExceptionCase.ALREADY_CLOSED: {
      const proto = parseMessage(AlreadyClosedExceptionProtoSchema, bytes);
      const cause = exceptionOfClass(proto.exceptionClassName, proto.errorMsg);
      const isItself = cause === undefined || cause instanceof AlreadyClosedException;
      const options = isItself ? undefined : { cause };
      return new AlreadyClosedException(proto.errorMsg, options);
    }
    default:
      return throwable(exceptionCase, bytes);
  }
}
