/** An exception as the Java peer describes it; Kontiki's are brought into the same form. */
export interface PeerError {
  /** Full class name of Java. */
  readonly type: string;
  readonly message: string | null;
  /** NotLeaderException: id of the suggested leader. */
  readonly leader?: string | null;
  readonly peers?: readonly string[];
  /** NotReplicatedException. */
  readonly level?: string;
  readonly index?: number;
  readonly cause?: PeerError;
}

/** What a call of a client ended with, whichever kind of client it is. */
export class PeerCallError extends Error {
  readonly details: PeerError;

  constructor(details: PeerError) {
    super(`${details.type}: ${details.message}`);
    this.details = details;
  }

  /** Class name without its package. */
  get type(): string {
    return this.details.type.slice(this.details.type.lastIndexOf('.') + 1);
  }
}
