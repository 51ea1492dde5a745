import type { Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { isMainThread } from "node:worker_threads";
import { StoreLockedError } from "@moraine/codec";
import { readHolder, type StoreLock } from "@moraine/runtime";
import { claimService } from "./claim.js";
import { type ConnectionEvents, Connections } from "./connections.js";
import { isMissing } from "./file-errors.js";
import type { Engine } from "./engine.js";
import { serviceLimits } from "./limits.js";
import { LogFile, type LogLevel } from "./log-file.js";
import { PlaceKeeper } from "./place-keeper.js";
import { servicePlace, type ServicePlace } from "./place.js";

export interface ServeOptions {
  readonly store: string;
  /** Started by a client: another service that is there already is as good. */
  readonly auto: boolean;
  /** Without a client for so long the service ends; undefined: it stays. */
  readonly idleTimeoutMs: number | undefined;
  readonly logLevel: LogLevel;
  /** Told once, when clients can connect. */
  readonly listening?: (place: ServicePlace) => void;
  /** Ends the service in good order. */
  readonly signal?: AbortSignal;
}

/**
 * Serves a store until it is stopped or idle, and gives the exit status. Where another process serves it already there is nothing
 * to do with `auto`, else it fails with `store_locked`.
 */
export async function serve(options: ServeOptions): Promise<number> {
  const place = servicePlace(options.store);
  const log = new LogFile(place.log, options.logLevel);
  try {
    const claim = await claimService(place);
    if (claim === undefined) {
      log.write("debug", "served_already", { location: place.location });
      if (options.auto) return 0;
      throw servedBy(place);
    }
    return await new Service(options, place, claim, log).run();
  } catch (error) {
    log.write("error", "not_served", { location: place.location, error });
    throw error;
  } finally {
    log.close();
  }
}

function servedBy({ lock, location }: ServicePlace): StoreLockedError {
  return new StoreLockedError(`process ${readHolder(lock)?.pid ?? "unknown"} serves ${location} already`, {
    remedy: "Use that one, or stop it first: moraine-service stop.",
  });
}

/**
 * What owns a store on behalf of its clients, in a process or in a thread of its own. It listens before it loads what answers them, so that whoever has
 * started it can connect at once; requests wait meanwhile.
 */
class Service {
  readonly #options: ServeOptions;
  readonly #place: ServicePlace;
  readonly #claim: StoreLock;
  readonly #log: LogFile;
  readonly #ended: Promise<number>;
  #resolveEnded: (status: number) => void = () => undefined;
  /** On the clock of the process, which for a thread runs since long before. */
  readonly #beganMs = isMainThread ? 0 : performance.now();
  /** Connected before the engine was there. */
  #early: Socket[] = [];
  #connections: Connections | undefined;
  #keeper: PlaceKeeper | undefined;
  #starting: Promise<void> | undefined;
  #engine: Engine | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  #isEnding = false;

  constructor(options: ServeOptions, place: ServicePlace, claim: StoreLock, log: LogFile) {
    this.#options = options;
    this.#place = place;
    this.#claim = claim;
    this.#log = log;
    this.#ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
  }

  async run(): Promise<number> {
    if (isMainThread) this.#runAsProcess();
    const { signal } = this.#options;
    signal?.addEventListener("abort", () => this.#end("closed", 0), { once: true });
    if (signal?.aborted === true) this.#end("closed", 0);
    // Of a thread, these are its own.
    process.on("uncaughtException", (error) => this.#fail(error));
    process.on("unhandledRejection", (error) => this.#fail(error));
    process.removeAllListeners("warning");
    process.on("warning", (warning) => this.#log.write("warn", "warning", { warning }));
    this.#starting = this.#start().catch((error: unknown) => this.#fail(error));
    return await this.#ended;
  }

  /** What a thread of an application must leave to it. */
  #runAsProcess(): void {
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => this.#end(signal, 0));
    // It outlives the folder that its first client happened to be in, and takes no relative path by it.
    process.chdir("/");
  }

  async #start(): Promise<void> {
    if (this.#isEnding) return;
    const connections = await this.#listen();
    if (connections === undefined) {
      this.#displaced();
      return;
    }
    this.#connections = connections;
    if (this.#isEnding) {
      connections.stopListening();
      return;
    }
    this.#keeper = new PlaceKeeper({
      claim: this.#claim,
      connections,
      log: this.#log,
      displaced: () => this.#displaced(),
    });
    const { location } = this.#place;
    this.#log.write("info", "listening", { location, sinceStartMs: this.#sinceStartMs() });
    this.#options.listening?.(this.#place);
    const { Engine } = await import("./engine.js");
    if (this.#isEnding) return;
    this.#engine = new Engine(this.#place, this.#log, {
      greeted: (client) => connections.greeted(client),
      stop: (reason) => this.#end(reason, 0),
    });
    this.#log.write("debug", "ready", { sinceStartMs: this.#sinceStartMs() });
    for (const client of this.#early) this.#engine.connection(client);
    this.#early = [];
  }

  /** With the claim: both go where somebody removes the runtime folder meanwhile. Gives undefined where another one has got it. */
  async #listen(): Promise<Connections | undefined> {
    const events: ConnectionEvents = {
      opened: (client) => this.#opened(client),
      failed: (error) => this.#log.write("debug", "connection_failed", { error }),
      idle: () => this.#idle(),
    };
    for (let attempt = 1; this.#claim.restore(); attempt++) {
      try {
        return await Connections.listen(this.#place.socket, events);
      } catch (error) {
        if (!isMissing(error) || attempt === serviceLimits.listenAttempts) throw error;
      }
    }
    return undefined;
  }

  /** Another process serves the store. One that was started by hand was not to end. */
  #displaced(): void {
    this.#end("displaced", this.#options.auto ? 0 : 1);
  }

  #sinceStartMs(): number {
    return Math.round(performance.now() - this.#beganMs);
  }

  #opened(client: Socket): void {
    clearTimeout(this.#idleTimer);
    if (this.#engine === undefined) this.#early.push(client);
    else this.#engine.connection(client);
  }

  #idle(): void {
    const { idleTimeoutMs } = this.#options;
    if (idleTimeoutMs === undefined || this.#isEnding) return;
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => void this.#endIfIdle(), idleTimeoutMs);
  }

  async #endIfIdle(): Promise<void> {
    if (this.#isEnding || this.#connections === undefined || this.#connections.count > 0) return;
    if (await this.#connections.stopListeningIfIdle()) this.#end("idle", 0);
  }

  #fail(error: unknown): void {
    this.#log.write("error", "failed", { error });
    this.#end("failure", 1);
  }

  #end(reason: string, status: number): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    clearTimeout(this.#idleTimer);
    this.#keeper?.stop();
    this.#log.write("info", "ending", { reason, status });
    void this.#close().then((isClean) => {
      this.#claim.release();
      this.#log.write("info", "ended", { status });
      this.#resolveEnded(isClean ? status : 1);
    });
  }

  /** Finishes what is under way, its start included, then closes the store; each within its time. Gives whether all went well. */
  async #close(): Promise<boolean> {
    this.#connections?.stopListening();
    // Not in the middle of loading code: a thread that ended there would take its process along.
    const started = await this.#within("start", this.#starting);
    const answered = await this.#within("requests", this.#engine?.finishRequests());
    this.#connections?.cutAll();
    const closed = await this.#within("store", this.#engine?.close());
    return started && answered && closed;
  }

  async #within(what: string, work: Promise<void> | undefined): Promise<boolean> {
    const late = Symbol("late");
    try {
      const result = await Promise.race([work, wait(serviceLimits.stopMs, late, { ref: false })]);
      if (result !== late) return true;
      this.#log.write("error", "not_closed_in_time", { what, limitMs: serviceLimits.stopMs });
    } catch (error) {
      this.#log.write("error", "not_closed", { what, error });
    }
    return false;
  }
}
