import { spawn } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { StoreUnavailableError } from "@moraine/codec";
import { ProtocolError, ServiceClient } from "@moraine/duckdb-ext";
import { serviceLimits } from "../service/limits.js";
import type { ServicePlace } from "../service/place.js";

/**
 * A connection to the service of a store that has been greeted. The service is started where none runs, as the extension of DuckDB
 * does. Errors: `store_unavailable` where it does not come, and for one of another version.
 */
export async function dialService(place: ServicePlace, program: string): Promise<ServiceClient> {
  for (let attempt = 1; ; attempt++) {
    const client = (await reach(place.socket)) ?? (await start(place));
    try {
      client.answerWithin(serviceLimits.greetMs);
      await client.greet(program);
      client.answerWithin(0);
      return client;
    } catch (error) {
      client.close();
      // A service that is ending still has its socket.
      if (error instanceof ProtocolError || attempt === serviceLimits.greetings) throw notGreeted(place, error);
    }
    await wait(serviceLimits.predecessorPollMs * attempt);
  }
}

async function reach(socket: string): Promise<ServiceClient | undefined> {
  try {
    return await ServiceClient.connectRaw(socket);
  } catch (error) {
    if (error instanceof StoreUnavailableError) return undefined;
    throw error;
  }
}

/** Starts a service, in a session of its own and without this process's files, and waits until it listens. */
async function start({ location, socket, log }: ServicePlace): Promise<ServiceClient> {
  const [command = process.execPath, ...words] = serviceCommand();
  const child = spawn(command, [...words, "serve", location, "--auto"], { detached: true, stdio: "ignore" });
  let failure: string | undefined;
  child.once("error", (error) => (failure = error.message));
  child.once("exit", (code) => {
    // 0: another one was quicker.
    if (code !== 0) failure = `its process ended with ${code ?? "a signal"}`;
  });
  child.unref();
  const beganMs = performance.now();
  for (;;) {
    const client = await reach(socket);
    if (client !== undefined) return client;
    if (performance.now() - beganMs > serviceLimits.startMs) failure ??= "it does not listen";
    if (failure !== undefined) {
      throw new StoreUnavailableError(`the service of ${location} did not start: ${failure}`, {
        remedy: `See ${log}.`,
      });
    }
    await wait(serviceLimits.predecessorPollMs);
  }
}

/** What `MORAINE_SERVICE` says, one argument a line, else the command of this package. */
function serviceCommand(): readonly string[] {
  const named = (process.env["MORAINE_SERVICE"] ?? "").split(/\r?\n/u).filter((line) => line !== "");
  if (named.length > 0) return named;
  return [process.execPath, fileURLToPath(new URL("../../bin/moraine-service.js", import.meta.url))];
}

function notGreeted({ location, log }: ServicePlace, cause: unknown): StoreUnavailableError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new StoreUnavailableError(`the service of ${location} does not take this process in: ${reason}`, {
    remedy: `See ${log}, or stop it: moraine stop.`,
    cause,
  });
}
