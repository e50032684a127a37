import * as exceptions from '../../protocol/exceptions.js';

type PlainException = new (
  message: string,
  options?: { cause?: unknown },
) => exceptions.RaftException;

const PACKAGE = 'org.apache.ratis.protocol.exceptions';

/** Exceptions that are a class and a message, by simple name (spec: wire-grpc 4.4). */
const PLAIN: Readonly<Record<string, PlainException>> = {
  AlreadyClosedException: exceptions.AlreadyClosedException,
  AlreadyExistsException: exceptions.AlreadyExistsException,
  DataStreamException: exceptions.DataStreamException,
  GroupMismatchException: exceptions.GroupMismatchException,
  LeaderSteppingDownException: exceptions.LeaderSteppingDownException,
  ReadException: exceptions.ReadException,
  ReadIndexException: exceptions.ReadIndexException,
  ReconfigurationInProgressException: exceptions.ReconfigurationInProgressException,
  ReconfigurationTimeoutException: exceptions.ReconfigurationTimeoutException,
  ResourceUnavailableException: exceptions.ResourceUnavailableException,
  ServerNotReadyException: exceptions.ServerNotReadyException,
  SetConfigurationException: exceptions.SetConfigurationException,
  StaleReadException: exceptions.StaleReadException,
  StreamException: exceptions.StreamException,
  TimeoutIOException: exceptions.TimeoutIOException,
  TransferLeadershipException: exceptions.TransferLeadershipException,
};

const BY_CLASS = new Map<string, PlainException>([
  ...Object.entries(PLAIN).map(([name, type]) => [`${PACKAGE}.${name}`, type] as const),
  ['java.io.IOException', exceptions.RaftIOException],
  ['java.lang.IllegalStateException', exceptions.IllegalStateException],
  ['java.lang.IllegalArgumentException', exceptions.IllegalArgumentException],
  ['java.lang.UnsupportedOperationException', exceptions.UnsupportedOperationException],
]);

const STATE_MACHINE_CLASS = `${PACKAGE}.StateMachineException`;
/** `<cause class> from Server <member>: <cause message>`; the server may be missing. */
const STATE_MACHINE_MESSAGE = /^(\S+?)(?: from Server (\S+))?: (.*)$/s;

function stateMachineException(message: string, cause: unknown): exceptions.StateMachineException {
  const match = STATE_MACHINE_MESSAGE.exec(message);
  const [, causeClass = STATE_MACHINE_CLASS, member, causeMessage = message] = match ?? [];
  return new exceptions.StateMachineException(
    member,
    causeClass,
    causeMessage,
    cause === undefined ? {} : { cause },
  );
}

/**
 * The exception of a Java class with a message, or undefined when the class is not known here
 * (spec: wire-grpc 4.4).
 */
export function exceptionOfClass(
  javaClass: string,
  message: string,
  cause?: unknown,
): exceptions.RaftException | undefined {
  if (javaClass === STATE_MACHINE_CLASS) return stateMachineException(message, cause);
  const type = BY_CLASS.get(javaClass);
  if (type === undefined) return undefined;
  return new type(message, cause === undefined ? undefined : { cause });
}

/** True when a Java receiver can make this class from a message alone (spec: wire-grpc 4.4). */
export function travelsByClass(javaClass: string): boolean {
  return javaClass === STATE_MACHINE_CLASS || BY_CLASS.has(javaClass);
}
