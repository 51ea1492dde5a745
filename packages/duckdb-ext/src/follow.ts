import type { ReadScope } from "@moraine/catalog";
import type { Attachment } from "./attachment.js";
import type { LoggedRevision } from "./follow-log.js";
import { framesOfLoad } from "./frames-of-steps.js";
import type { FollowedLake, ReadLake } from "./lake.js";
import { followWaitMs, pinAttempts } from "./limits.js";
import { encodeFrame } from "./wire/messages.js";

/** Sends one frame; resolves when there is room for the next one. */
export type SendFrame = (frame: Uint8Array) => Promise<void>;

/**
 * Answers a `Follow` of a lake that is open for writing: nothing new, the newest changes, or everything. What is answered is at
 * least as new as the head was when the request came, and its cut is kept for the attachment where the lake has indexes.
 */
export async function followLake(
  lake: FollowedLake,
  attachment: Attachment,
  revision: bigint | undefined,
  send: SendFrame,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const scope = await lake.catalog.reads();
    const way = revision === undefined ? undefined : await wayTo(lake, revision, scope.revision);
    if (way === undefined) {
      scope.release();
      await sendAll(lake, attachment, send);
      return;
    }
    const reached = way.at(-1)?.to ?? revision;
    if (reached !== scope.revision && attempt < pinAttempts) {
      // Another commit has landed between the cut and the way to it.
      scope.release();
      continue;
    }
    keepOrRelease(attachment, scope, reached);
    await sendWay(way, send);
    return;
  }
}

async function wayTo(lake: FollowedLake, from: bigint, to: bigint): Promise<readonly LoggedRevision[] | undefined> {
  // Whoever made the newest commit needs no steps, which may still be worked out.
  if (from === to) return [];
  // Revisions of a store never go back: one above the head is of another store.
  if (from > to) return undefined;
  const { log } = lake;
  await log?.reach(to, followWaitMs);
  return log === undefined || log.newest < to ? undefined : log.since(from);
}

function keepOrRelease(attachment: Attachment, scope: ReadScope, reached: bigint | undefined): void {
  if (scope.revision === reached && scope.hasIndexes) attachment.pin(scope);
  else scope.release();
}

async function sendWay(way: readonly LoggedRevision[], send: SendFrame): Promise<void> {
  const last = way.at(-1);
  if (last === undefined) {
    await send(encodeFrame({ type: "unchanged" }));
    return;
  }
  await send(encodeFrame({ type: "changes_begin", full: false }));
  for (const { frames } of way) for (const frame of frames) await send(frame);
  await send(encodeFrame({ type: "changes_end", revision: last.to }));
}

async function sendAll(lake: FollowedLake, attachment: Attachment, send: SendFrame): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const scope = await lake.catalog.reads();
    const remembered = lake.load.find(scope.revision);
    if (remembered !== undefined) {
      keepOrRelease(attachment, scope, scope.revision);
      await sendLoad(remembered, scope.revision, send);
      return;
    }
    const load = await lake.catalog.loadRows();
    try {
      if (load.revision !== scope.revision && attempt < pinAttempts) {
        scope.release();
        continue;
      }
      keepOrRelease(attachment, scope, load.revision);
      const frames = lake.load.through(load.revision, framesOfLoad(lake.schema, load.steps));
      await sendLoad(frames, load.revision, send);
      return;
    } finally {
      load.release();
    }
  }
}

async function sendLoad(
  frames: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  revision: bigint,
  send: SendFrame,
): Promise<void> {
  await send(encodeFrame({ type: "changes_begin", full: true }));
  for await (const frame of frames) await send(frame);
  await send(encodeFrame({ type: "changes_end", revision }));
}

/** The same for a lake that is only read: there are no steps to follow, so that whatever is new is everything. */
export async function followReadOnly(lake: ReadLake, revision: bigint | undefined, send: SendFrame): Promise<void> {
  const load = await lake.catalog.loadRows();
  try {
    if (load.revision === revision) {
      await send(encodeFrame({ type: "unchanged" }));
      return;
    }
    await sendLoad(framesOfLoad(lake.schema, load.steps), load.revision, send);
  } finally {
    load.release();
  }
}
