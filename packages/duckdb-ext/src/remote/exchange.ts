import { InvalidArgumentError, StoreUnavailableError } from "@moraine/codec";
import type { ServiceClient } from "../service-client.js";
import { encodeFrame, type Message, type MessageName } from "../wire/messages.js";
import { ProtocolError } from "../wire/protocol-error.js";
import { errorOf } from "./refusal.js";

/** The connection broke: the service has ended, most likely. */
export class ConnectionLostError extends StoreUnavailableError {
  constructor(cause: unknown) {
    super("the service closed the connection", { remedy: "Try again: a service is started then.", cause });
  }
}

/** The service gave no answer in time. Its connection is of no use any more. */
export class LateAnswerError extends StoreUnavailableError {
  constructor(limitMs: number) {
    super(`the service did not answer within ${limitMs} ms`, { remedy: "See the service's log, or end its process." });
  }
}

/** One of some messages. */
export type Answer<Name extends MessageName> = Extract<Message, { readonly type: Name }>;

export interface ExchangeOptions {
  /** Default: none. */
  readonly limitMs?: number | undefined;
  /** Told of each frame ahead of the answer. */
  readonly onProgress?: ((value: Uint8Array) => void) | undefined;
}

/**
 * Sends a request, and gives its answer, one of the kinds named. Errors: those that the service answers with, as they were there;
 * `ConnectionLostError`, `LateAnswerError`.
 */
export async function exchange<Name extends MessageName>(
  client: ServiceClient,
  request: Message,
  expected: readonly Name[],
  { limitMs, onProgress }: ExchangeOptions = {},
): Promise<Answer<Name>> {
  const frame = frameOf(request);
  let isLate = false;
  const giveUp = (): void => {
    isLate = true;
    client.close();
  };
  const timer = limitMs === undefined ? undefined : setTimeout(giveUp, limitMs);
  let answer: Message;
  try {
    client.send(frame);
    answer = await client.receive();
    while (answer.type === "progress") {
      onProgress?.(answer.value);
      answer = await client.receive();
    }
  } catch (cause) {
    client.close();
    throw isLate && limitMs !== undefined ? new LateAnswerError(limitMs) : new ConnectionLostError(cause);
  } finally {
    clearTimeout(timer);
  }
  if ((expected as readonly string[]).includes(answer.type)) return answer as Answer<Name>;
  if (answer.type === "refused") throw errorOf(answer);
  client.close();
  // The attachment is not known: it was another process's.
  if (answer.type === "failed" && answer.code === "not_found") throw new ConnectionLostError(undefined);
  const said = answer.type === "failed" ? answer.message : `a ${answer.type}, which is no answer to a ${request.type}`;
  throw new StoreUnavailableError(`the service says: ${said}`, {
    remedy: "Use releases of one version in all processes, and stop a service of another one: moraine stop.",
  });
}

function frameOf(request: Message): Uint8Array {
  try {
    return encodeFrame(request);
  } catch (cause) {
    if (!(cause instanceof ProtocolError)) throw cause;
    throw new InvalidArgumentError(`a ${request.type} that no message can hold: ${cause.message}`, {
      remedy: "Commit less at a time.",
      cause,
    });
  }
}
