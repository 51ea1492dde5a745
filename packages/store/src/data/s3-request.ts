import type { MoraineError } from "@moraine/codec";
import { dataLimits } from "./limits.js";
import type { FileAction } from "./local-errors.js";
import { DeadlineError, StalledError, classifyS3Error } from "./s3-errors.js";

/** One try of a request. */
export interface RequestTry {
  /** Aborted when the try is given up. */
  readonly signal: AbortSignal;
  /** Says that bytes have come, so that the server does not count as stalled. */
  readonly progress: () => void;
}

export interface RequestOptions {
  /** Time for the request with all its tries. */
  readonly timeoutMs: number;
  /** Silence after which a try is given up for another one. */
  readonly stallTimeoutMs: number;
  /** Ends the request early. */
  readonly stop?: AbortSignal;
}

/**
 * Runs requests with a bound on their time and their tries. The SDK's own retries are not used, because they end when the
 * head of the answer is there, and it is in the middle of the bytes that connections break.
 */
export class RequestRunner {
  readonly #tries: number;
  readonly #underWay = new Set<AbortController>();

  constructor(tries: number) {
    this.#tries = tries;
  }

  /** The result of the first try that succeeds. Fails with the typed error of the last one. */
  async run<Result>(
    action: FileAction,
    options: RequestOptions,
    work: (request: RequestTry) => Promise<Result>,
  ): Promise<Result> {
    const deadline = performance.now() + options.timeoutMs;
    for (let tries = 1; ; tries++) {
      try {
        return await this.#guard(deadline, options, work);
      } catch (error) {
        const failure = classifyS3Error(error);
        const pauseMs = backoffMs(tries);
        const isLast = tries >= this.#tries || performance.now() + pauseMs >= deadline;
        if (!failure.transient || isLast) throw failure.typed(action, tries);
        await this.#guard(deadline, options, (request) => pause(pauseMs, request.signal));
      }
    }
  }

  /** Ends every request under way with `reason`. */
  abort(reason: MoraineError): void {
    for (const controller of this.#underWay) controller.abort(reason);
  }

  /** Runs `work` until it ends, its time is up, nothing has come for too long, or someone ends it. */
  async #guard<Result>(
    deadline: number,
    { timeoutMs, stallTimeoutMs, stop }: RequestOptions,
    work: (request: RequestTry) => Promise<Result>,
  ): Promise<Result> {
    const controller = new AbortController();
    const { signal } = controller;
    let lastProgress = performance.now();
    let timer: NodeJS.Timeout | undefined;
    const watch = (): void => {
      const now = performance.now();
      const stallsAt = lastProgress + stallTimeoutMs;
      if (now >= deadline) controller.abort(new DeadlineError(`no complete answer within ${timeoutMs} ms`));
      else if (now >= stallsAt) controller.abort(new StalledError(`no answer for ${stallTimeoutMs} ms`));
      else timer = setTimeout(watch, Math.ceil(Math.min(deadline, stallsAt) - now));
    };
    const onStop = (): void => controller.abort(stop?.reason);
    // The SDK can take its time to notice an abort, or never settle. The caller's time is kept whatever it does.
    const aborted = new Promise<never>((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(abortReason(signal)), { once: true });
    });
    this.#underWay.add(controller);
    stop?.addEventListener("abort", onStop, { once: true });
    if (stop?.aborted === true) onStop();
    watch();
    try {
      const progress = (): void => {
        lastProgress = performance.now();
      };
      return await Promise.race([aborted, work({ signal, progress })]);
    } catch (error) {
      if (signal.aborted) throw abortReason(signal);
      // Frees the socket of an answer that was refused before it was read.
      controller.abort(error);
      throw error;
    } finally {
      clearTimeout(timer);
      stop?.removeEventListener("abort", onStop);
      this.#underWay.delete(controller);
    }
  }
}

function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new DeadlineError("ended early");
}

/** Doubles with each try. Half is random, so that many clients of a struggling server do not come back at once. */
function backoffMs(tries: number): number {
  const full = Math.min(dataLimits.retryMaxMs, dataLimits.retryBaseMs * 2 ** (tries - 1));
  return full / 2 + Math.random() * (full / 2);
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
  });
}
