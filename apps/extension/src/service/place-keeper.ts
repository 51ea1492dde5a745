import { StoreLock } from "@moraine/runtime";
import type { Connections } from "./connections.js";
import { serviceLimits } from "./limits.js";
import type { LogFile } from "./log-file.js";

export interface KeptPlace {
  readonly claim: StoreLock;
  readonly connections: Connections;
  readonly log: LogFile;
  /** Another process has the claim: it serves the store from now on. */
  readonly displaced: () => void;
}

/**
 * Keeps a running service where clients look for it. Whoever cleans up temporary files may remove its socket, its locks or the whole
 * runtime folder: they are put back. The claim decides: a service that was started before it was back is the one from then on.
 */
export class PlaceKeeper {
  readonly #place: KeptPlace;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  /** Code of what was in the way last, so that it is logged once. */
  #obstacle: unknown;

  constructor(place: KeptPlace) {
    this.#place = place;
    this.#wait();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #wait(): void {
    this.#timer = setTimeout(() => void this.#look(), serviceLimits.placeCheckMs).unref();
  }

  async #look(): Promise<void> {
    await this.#restore();
    if (!this.#isStopped) this.#wait();
  }

  async #restore(): Promise<void> {
    const { claim, connections, log, displaced } = this.#place;
    try {
      const isClaimed = claim.restore();
      log.restore();
      if (!isClaimed) {
        displaced();
        return;
      }
      StoreLock.restoreAll();
      if (await connections.restore()) log.write("warn", "socket_restored");
      this.#obstacle = undefined;
    } catch (error) {
      // Of the file system. Those who are connected are still served.
      if (!(error instanceof Error && "code" in error)) throw error;
      if (error.code !== this.#obstacle) log.write("error", "place_not_restored", { error });
      this.#obstacle = error.code;
    }
  }
}
