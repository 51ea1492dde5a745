import { createConnection } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { StoreLockedError } from "@moraine/codec";
import { readHolder, runtimeFolder, StoreLock } from "@moraine/runtime";
import { isMissing } from "./file-errors.js";
import { serviceLimits } from "./limits.js";
import type { ServicePlace } from "./place.js";

/**
 * Makes this process, or this thread of it, the one service of a store, or finds that another one serves it: then `undefined`. Of any
 * number that are started at once exactly one gets the claim. One that neither listens nor ends is waited for: it starts, or closes the store.
 *
 * Errors: `store_locked` where that takes too long, naming the process.
 */
export async function claimService(place: ServicePlace): Promise<StoreLock | undefined> {
  const beganMs = performance.now();
  for (;;) {
    try {
      runtimeFolder();
      return StoreLock.acquireFile(place.lock, place.location, false, undefined, "service");
    } catch (error) {
      if (error instanceof StoreLockedError) {
        if (await listens(place.socket)) return undefined;
      } else if (!isMissing(error)) throw error;
      // Somebody removes the folder in this very instant.
    }
    if (performance.now() - beganMs > serviceLimits.predecessorMs) throw notListening(place);
    await wait(serviceLimits.predecessorPollMs);
  }
}

/** Whether somebody listens at a socket. */
export async function listens(socket: string): Promise<boolean> {
  return await new Promise((resolve) => {
    const connection = createConnection(socket);
    connection.once("connect", () => {
      connection.destroy();
      resolve(true);
    });
    // Whatever is wrong with it, nobody is reached.
    connection.once("error", () => resolve(false));
  });
}

function notListening(place: ServicePlace): StoreLockedError {
  const pid = readHolder(place.lock)?.pid ?? "unknown";
  const waited = `has not listened within ${serviceLimits.predecessorMs / 1000} s`;
  return new StoreLockedError(`process ${pid}, which is to serve ${place.location}, ${waited}`, {
    remedy: `See ${place.log}, and end that process.`,
  });
}
