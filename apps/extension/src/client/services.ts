import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { StoreUnavailableError } from "@moraine/codec";
import { type Message, type MessageName, type MessageOf, ServiceClient, unexpected } from "@moraine/duckdb-ext";
import { isRunning, readHolder, runtimeFolder } from "@moraine/runtime";
import { serviceLimits } from "../service/limits.js";
import { listens } from "../service/claim.js";
import type { ServiceStatus } from "../service/engine.js";
import { servicePlace, socketSuffix } from "../service/place.js";

/** One service. */
export interface ServiceReport {
  readonly socket: string;
  /** What it says of itself, or why it does not. */
  readonly status: ServiceStatus | { readonly error: string };
}

/** The services of this user on this machine, each asked for its status. Sockets that nobody listens at are passed over. */
export async function listServices(): Promise<ServiceReport[]> {
  const folder = runtimeFolder();
  const sockets = readdirSync(folder)
    .filter((name) => name.endsWith(socketSuffix))
    .toSorted();
  const reports = await Promise.all(sockets.map((name) => report(join(folder, name))));
  return reports.filter((each) => each !== undefined);
}

async function report(socket: string): Promise<ServiceReport | undefined> {
  if (!(await listens(socket))) return undefined;
  try {
    const { json } = await ask(socket, { type: "status" }, "status_report");
    return { socket, status: JSON.parse(json) as ServiceStatus };
  } catch (error) {
    return { socket, status: { error: error instanceof Error ? error.message : String(error) } };
  }
}

/** The answer to one request, over a connection of its own. */
async function ask<Name extends MessageName>(
  socket: string,
  request: Message,
  expected: Name,
): Promise<MessageOf<Name>> {
  const client = await ServiceClient.connectRaw(socket);
  try {
    client.answerWithin(serviceLimits.answerMs);
    await client.greet(`moraine ${request.type}`);
    const answer = await client.request(request);
    if (answer.type !== expected) throw unexpected(answer);
    return answer as MessageOf<Name>;
  } finally {
    client.close();
  }
}

/**
 * Stops the service of a store and waits until its process has closed the store. Gives the number of that process, or undefined
 * where there was none. Errors: `store_unavailable` where it does not answer or does not end.
 */
export async function stopService(store: string): Promise<number | undefined> {
  const place = servicePlace(store);
  if (!(await listens(place.socket))) return undefined;
  const holder = readHolder(place.lock);
  await ask(place.socket, { type: "stop" }, "done");
  const beganMs = performance.now();
  while (holder !== undefined && isRunning(holder) && readHolder(place.lock)?.token === holder.token) {
    if (performance.now() - beganMs > serviceLimits.goneMs) {
      throw new StoreUnavailableError(`process ${holder.pid} has not ended within ${serviceLimits.goneMs / 1000} s`, {
        remedy: `See ${place.log}, or end that process.`,
      });
    }
    await wait(serviceLimits.predecessorPollMs);
  }
  return holder?.pid;
}
