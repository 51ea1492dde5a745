import { Worker } from "node:worker_threads";
import { StoreUnavailableError } from "@moraine/codec";
import { StoreLock } from "@moraine/runtime";
import { serviceLimits } from "../service/limits.js";
import { servicePlace, type ServicePlace } from "../service/place.js";

/** What the thread is told when it starts. */
export interface ThreadTask {
  /** Location of the store. */
  readonly store: string;
  /** Path of the application's own script, as its arguments have it; empty where it has none. */
  readonly script: readonly string[];
  /** Shared: 1 once that the service has ended, for a process that cannot wait for messages any more. */
  readonly over: Int32Array;
}

/** What the thread tells: once that clients can connect, and at last the status with which the service has ended. */
export type ThreadNews = "listening" | { readonly ended: number };

/**
 * The service of a store in a thread of this process, where other processes find it as they find one in a process of its own. It
 * ends when everybody here who used it has released it. While it serves it does not keep the process alive; while it starts, or
 * closes the store, it does; a process that ends all the same waits for that at last.
 */
export class ServiceThread {
  /** Those of this process that have not ended, by the file of their lock. */
  static readonly #threads = new Map<string, ServiceThread>();
  readonly #place: ServicePlace;
  readonly #worker: Worker;
  /** It serves or, as another process does, need not. */
  readonly #ready: Promise<void>;
  /** The store is closed. */
  readonly #ended: Promise<void>;
  readonly #over = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  #uses = 0;
  #isClosing = false;

  private constructor(place: ServicePlace) {
    this.#place = place;
    const task: ThreadTask = { store: place.location, script: process.argv.slice(1, 2), over: this.#over };
    const entry = new URL("../../bin/service-thread.js", import.meta.url);
    // The loaders of the application are for its own modules.
    const worker = new Worker(entry, { workerData: task, execArgv: [] });
    this.#worker = worker;
    const thread = worker.threadId;
    const listening = new Promise<void>((resolve) => {
      worker.on("message", (news: ThreadNews) => {
        // From now on it is the process's other work that keeps it.
        worker.unref();
        if (news === "listening") resolve();
      });
    });
    const status = new Promise<number>((resolve, reject) => {
      worker.on("message", (news: ThreadNews) => {
        if (news !== "listening") resolve(news.ended);
      });
      worker.once("error", reject);
      worker.once("exit", () => reject(new Error("its thread has died")));
    });
    // 0 at once: another process serves the store.
    const served = status.then((code) => {
      if (code !== 0) throw new Error(`it ended with ${code}`);
    });
    this.#ready = Promise.race([listening, served]);
    this.#ended = status
      .then(
        () => undefined,
        () => StoreLock.releaseOf(thread),
      )
      .finally(() => this.#forget());
  }

  /**
   * The thread that serves a store, which is started where this process has none. Where another process serves the store already,
   * it has nothing to do, and ends. Errors: `store_unavailable` where it does not come to serve.
   */
  static async use(store: string): Promise<ServiceThread> {
    const place = servicePlace(store);
    let thread = ServiceThread.#threads.get(place.lock);
    while (thread !== undefined && thread.#isClosing) {
      await thread.#ended;
      thread = ServiceThread.#threads.get(place.lock);
    }
    if (thread === undefined) {
      thread = new ServiceThread(place);
      if (ServiceThread.#threads.size === 0) process.on("exit", ServiceThread.#closeAll);
      ServiceThread.#threads.set(place.lock, thread);
    }
    thread.#uses++;
    try {
      await thread.#ready;
    } catch (error) {
      throw notServed(place, error);
    }
    return thread;
  }

  /** Ends the service with its last use. */
  release(): void {
    if (--this.#uses > 0 || ServiceThread.#threads.get(this.#place.lock) !== this) return;
    this.#isClosing = true;
    this.#worker.ref();
    this.#worker.postMessage("close");
  }

  #forget(): void {
    ServiceThread.#threads.delete(this.#place.lock);
    if (ServiceThread.#threads.size === 0) process.off("exit", ServiceThread.#closeAll);
  }

  /**
   * Nothing runs any more but the threads themselves. One that was cut off in a call of the store's binding would end the process by a
   * signal.
   */
  static readonly #closeAll = (): void => {
    const threads = [...ServiceThread.#threads.values()];
    for (const thread of threads) thread.#worker.postMessage("close");
    for (const thread of threads) Atomics.wait(thread.#over, 0, 0, serviceLimits.exitMs);
  };

  /** Resolves when the service has closed the store, at once where others use it here. */
  async released(): Promise<void> {
    if (this.#isClosing) await this.#ended;
  }
}

function notServed({ location, log }: ServicePlace, cause: unknown): StoreUnavailableError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new StoreUnavailableError(`the service of ${location} did not start in a thread: ${reason}`, {
    remedy: `See ${log}.`,
    cause,
  });
}
