/** Bytes of the other side that the protocol does not allow. An error of the connection, and of nothing else. */
export class ProtocolError extends Error {
  readonly code = "protocol";
  readonly retryable = false;

  constructor(message: string) {
    super(`protocol: ${message}`);
    this.name = "ProtocolError";
  }
}
