import {
  checkMember,
  commitRecorded,
  type HeadCut,
  type News,
  readNews,
  type RemoteMethod,
  StaleBaseError,
} from "@moraine/catalog";
import { InvalidArgumentError } from "@moraine/codec";
import { storeLimits } from "@moraine/store";
import type { Attachment } from "../attachment.js";
import type { WritableLake } from "../lake.js";
import { remoteBlockRows } from "../limits.js";
import type { RetryFloor } from "../retry-floor.js";
import { encodeFrame, type Message, type MessageOf } from "../wire/messages.js";
import { valueBytes, valueOf } from "./values.js";

export const remoteRequests = ["pin", "unpin", "read_many", "scan_rows", "claim", "commit_verbs", "call"] as const;
export type RemoteRequest = Extract<Message, { readonly type: (typeof remoteRequests)[number] }>;

const known: ReadonlySet<string> = new Set(remoteRequests);

export function isRemoteRequest(message: Message): message is RemoteRequest {
  return known.has(message.type);
}

/** What a request of a connected application is answered from. */
export interface RemoteContext {
  readonly attachment: Attachment;
  readonly catalog: WritableLake;
  readonly floor: RetryFloor<Attachment>;
  /** Repeats no refused commit any more. */
  readonly letGo: () => void;
  /** Ends when the client is gone. */
  readonly signal: AbortSignal;
  /** Sends a frame ahead of the answer. */
  readonly send: (frame: Uint8Array) => Promise<void>;
}

/** The answer to a request of a connected application. */
export async function answerRemote(request: RemoteRequest, context: RemoteContext): Promise<Message> {
  const { attachment, catalog, floor } = context;
  const { cuts } = attachment;
  switch (request.type) {
    case "pin":
      return await pin(request, context);
    case "unpin":
      return { type: "done", changed: cuts.remove(request.revision) };
    case "read_many": {
      const { keys: data, ends } = request;
      return { type: "values", ...(await cuts.read(request.revision, ({ view }) => view.getMany({ data, ends }))) };
    }
    case "scan_rows":
      return await cuts.read(request.revision, (cut) => scanRows(cut, request));
    case "claim":
      if (request.holds) await floor.claim(attachment);
      else context.letGo();
      return { type: "done", changed: true };
    case "commit_verbs":
      return await commit(request, context);
    case "call":
      return { type: "returned", value: valueBytes(await call(catalog, request, context.send)) };
  }
}

async function pin(
  { known: revision, since }: MessageOf<"pin">,
  { attachment, catalog }: RemoteContext,
): Promise<Message> {
  const cut = await catalog.pinHead();
  if (cut.revision === revision && attachment.cuts.has(revision)) {
    cut.release();
    return { type: "unchanged" };
  }
  return { type: "pinned", ...(await held(cut, attachment, since)) };
}

/** Keeps a cut for an application that knows the head as it was at a snapshot. */
async function held(
  cut: HeadCut,
  { cuts }: Attachment,
  since: bigint | undefined,
): Promise<Pick<MessageOf<"pinned">, "revision" | "news">> {
  const { revision, view } = cut;
  let news: News | undefined;
  try {
    news = since === undefined ? undefined : await readNews(view, since);
  } catch (error) {
    cut.release();
    throw error;
  }
  cuts.add(cut);
  if (news === undefined) return { revision, news };
  const { keys, values } = news;
  return { revision, news: { keys: keys.data, keyEnds: keys.ends, ...values } };
}

async function scanRows(
  { view }: HeadCut,
  { start, end, reverse, rows }: MessageOf<"scan_rows">,
): Promise<MessageOf<"row_block">> {
  const blockRows = Math.min(Math.max(rows, 1), remoteBlockRows);
  for await (const { count, data, ends } of view.scan({ start, end }, { reverse, limit: blockRows, blockRows })) {
    return { type: "row_block", data, ends, more: count === blockRows || data.length >= storeLimits.scanBlockBytes };
  }
  return { type: "row_block", data: new Uint8Array(0), ends: new Uint32Array(0), more: false };
}

async function commit(request: MessageOf<"commit_verbs">, context: RemoteContext): Promise<Message> {
  const { attachment, catalog, floor, signal } = context;
  const { base, baseSnapshot, author, message, extraInfo } = request;
  const members = request.members.map((bytes) => checkMember(valueOf(bytes)));
  try {
    const snapshots = await floor.commit(attachment, () =>
      commitRecorded(catalog, { base, members, author, message, extraInfo }, signal),
    );
    return { type: "landed", snapshots, ...(await held(await catalog.pinHead(), attachment, baseSnapshot)) };
  } catch (error) {
    if (error instanceof StaleBaseError) return { type: "stale" };
    throw error;
  }
}

type Calls = Pick<WritableLake, RemoteMethod>;

async function call(
  catalog: Calls,
  { method, arguments: bytes }: MessageOf<"call">,
  send: RemoteContext["send"],
): Promise<unknown> {
  // Each method checks what it is given.
  const args = valueOf(bytes);
  switch (method as RemoteMethod) {
    case "flushInlined":
      return await catalog.flushInlined(args as Parameters<Calls["flushInlined"]>[0]);
    case "maintain": {
      const onProgress = (report: unknown): void =>
        void send(encodeFrame({ type: "progress", value: valueBytes(report) }));
      return await catalog.maintain({ ...(args as Parameters<Calls["maintain"]>[0]), onProgress });
    }
    case "recordMaintenancePass":
      await catalog.recordMaintenancePass(args as Parameters<Calls["recordMaintenancePass"]>[0]);
      return undefined;
    case "reclaimIndexEntries":
      return await catalog.reclaimIndexEntries(args as Parameters<Calls["reclaimIndexEntries"]>[0]);
    case "scopedFileIndexEntries":
      return await catalog.scopedFileIndexEntries(args as Parameters<Calls["scopedFileIndexEntries"]>[0]);
    case "scopedBackfillEntries":
      return await catalog.scopedBackfillEntries(args as Parameters<Calls["scopedBackfillEntries"]>[0]);
  }
  throw new InvalidArgumentError("a call names a method that there is none of", {
    remedy: "Use releases of one version in all processes.",
  });
}
