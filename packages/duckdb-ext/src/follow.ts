import type { ReadScope } from "@moraine/catalog";
import type { Attachment } from "./attachment.js";
import type { LoggedRevision } from "./follow-log.js";
import { framesOfLoad } from "./frames-of-steps.js";
import type { FollowedLake, ReadLake } from "./lake.js";
import { followWaitMs, pinAttempts } from "./limits.js";
import { encodeFrame } from "./wire/messages.js";
import { isOfLake, numberOf, wireRevision } from "./wire-revision.js";

/** Sends one frame; resolves when there is room for the next one. */
export type SendFrame = (frame: Uint8Array) => Promise<void>;

/** The lake's own number of the revision that a client's tables stand at; `undefined` where they are not those of this lake alone. */
function numberIn({ mark }: { readonly mark: bigint }, known: bigint | undefined): bigint | undefined {
  return known !== undefined && isOfLake(mark, known) ? numberOf(known) : undefined;
}

/** What a client says by a `Follow`. */
export interface FollowRequest {
  readonly known: bigint | undefined;
  /** Whether it takes everything as of an older revision, as it follows on before it reads. */
  readonly mayBeOlder: boolean;
}

/**
 * Answers a `Follow` of a lake that is open for writing: nothing new, the newest changes, or everything. What is answered is at
 * least as new as the head was when the request came, unless it may be older, and its cut is kept for the attachment where the
 * lake has indexes.
 */
export async function followLake(
  lake: FollowedLake,
  attachment: Attachment,
  { known, mayBeOlder }: FollowRequest,
  send: SendFrame,
): Promise<void> {
  const revision = numberIn(lake, known);
  for (let attempt = 1; ; attempt++) {
    const scope = await lake.catalog.reads();
    const way = revision === undefined ? undefined : await wayTo(lake, revision, scope.revision);
    if (way === undefined) {
      scope.release();
      const beginning = mayBeOlder ? lake.beginning : undefined;
      if (beginning === undefined) await sendAll(lake, attachment, send);
      else await sendLoad(lake, lake.load.use(beginning), beginning.revision, send);
      return;
    }
    const reached = way.at(-1)?.to ?? revision;
    if (reached !== scope.revision && attempt < pinAttempts) {
      // Another commit has landed between the cut and the way to it.
      scope.release();
      continue;
    }
    keepOrRelease(attachment, scope, reached);
    await sendWay(lake, way, send);
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

async function sendWay({ mark }: FollowedLake, way: readonly LoggedRevision[], send: SendFrame): Promise<void> {
  const last = way.at(-1);
  if (last === undefined) {
    await send(encodeFrame({ type: "unchanged" }));
    return;
  }
  await send(encodeFrame({ type: "changes_begin", full: false }));
  for (const { frames } of way) for (const frame of frames) await send(frame);
  await send(encodeFrame({ type: "changes_end", revision: wireRevision(mark, last.to) }));
}

async function sendAll(lake: FollowedLake, attachment: Attachment, send: SendFrame): Promise<void> {
  // Whoever begins with what is remembered here goes on by what is committed from now on.
  lake.listen();
  for (let attempt = 1; ; attempt++) {
    const scope = await lake.catalog.reads();
    const remembered = lake.load.find(scope.revision);
    if (remembered !== undefined) {
      keepOrRelease(attachment, scope, scope.revision);
      await sendLoad(lake, remembered, scope.revision, send);
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
      await sendLoad(lake, frames, load.revision, send);
      return;
    } finally {
      load.release();
    }
  }
}

async function sendLoad(
  { mark }: { readonly mark: bigint },
  frames: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  revision: bigint,
  send: SendFrame,
): Promise<void> {
  await send(encodeFrame({ type: "changes_begin", full: true }));
  for await (const frame of frames) await send(frame);
  await send(encodeFrame({ type: "changes_end", revision: wireRevision(mark, revision) }));
}

/** The same for a lake that is only read: there are no steps to follow, so that whatever is new is everything. */
export async function followReadOnly(lake: ReadLake, known: bigint | undefined, send: SendFrame): Promise<void> {
  const load = await lake.catalog.loadRows();
  try {
    if (load.revision === numberIn(lake, known)) {
      await send(encodeFrame({ type: "unchanged" }));
      return;
    }
    await sendLoad(lake, framesOfLoad(lake.schema, load.steps), load.revision, send);
  } finally {
    load.release();
  }
}
