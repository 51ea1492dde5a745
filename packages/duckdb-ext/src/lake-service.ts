import {
  CommitConflictError,
  InvalidArgumentError,
  type MoraineError,
  NotFoundError,
  UnsupportedError,
} from "@moraine/codec";
import type { ReadScope } from "@moraine/catalog";
import { Attachment, type ClientInfo } from "./attachment.js";
import { followLake, followReadOnly, type SendFrame } from "./follow.js";
import { createIndex, describeIndex, dropIndex, listIndexes, readIndex } from "./index-requests.js";
import { FollowedLake, type LakeOpener, type ReadableLake } from "./lake.js";
import { hasLanded } from "./landed.js";
import { RetryFloor } from "./retry-floor.js";
import type { MessageOf } from "./wire/messages.js";

/** What a service says about itself, without the parts that only its process knows. */
export interface LakeStatus {
  readonly revision: string | null;
  readonly snapshot: string | null;
  readonly clients: readonly {
    readonly pid: string;
    readonly client: string;
    readonly program: string;
    readonly lakes: readonly { readonly name: string; readonly readOnly: boolean; readonly pinnedRevisions: number }[];
  }[];
}

/**
 * The one lake of a store, and whoever is attached to it. Knows nothing of sockets: connections hand their requests in. The lake is
 * opened by the first attachment and closed by `close`.
 */
export class LakeService {
  readonly #opener: LakeOpener;
  readonly #attachments = new Map<bigint, Attachment>();
  readonly #floor: RetryFloor<Attachment>;
  #lastAttachment = 0n;
  #lake: FollowedLake | undefined;
  #readOnly: ReadableLake | undefined;
  /** Openings come one after the other. */
  #opening: Promise<unknown> = Promise.resolve();

  constructor(opener: LakeOpener, retryFloorMs?: number) {
    this.#opener = opener;
    this.#floor = new RetryFloor(retryFloorMs);
  }

  async attach(
    request: MessageOf<"attach">,
    client: ClientInfo,
  ): Promise<{ attachment: Attachment; dataPath: string | undefined; exists: boolean }> {
    await this.#inTurn(async () => {
      const opened = await this.#opener.open(request);
      // DuckLake has its own words for a lake that is not there and may not be made.
      if (opened === undefined) return;
      if (opened.access === "read") {
        this.#readOnly = opened.catalog;
        return;
      }
      this.#readOnly = undefined;
      if (this.#lake?.catalog !== opened.catalog) this.#lake = new FollowedLake(opened.catalog);
    });
    const attachment = new Attachment(++this.#lastAttachment, request.lake, client, request);
    this.#attachments.set(attachment.id, attachment);
    const catalog = this.#lake?.catalog ?? this.#readOnly;
    return { attachment, exists: catalog !== undefined, dataPath: (await catalog?.snapshot())?.dataPath() };
  }

  attachment(id: bigint): Attachment {
    const found = this.#attachments.get(id);
    if (found !== undefined) return found;
    throw new NotFoundError(`attachment ${id}: it has ended, or was made by another process of the service`, {
      remedy: "Attach again.",
    });
  }

  /** Ends an attachment: its pins go, and others need not wait for it. Ending it again does nothing. */
  detach(attachment: Attachment): void {
    if (!this.#attachments.delete(attachment.id)) return;
    this.#floor.release(attachment);
    attachment.releaseBelow(undefined);
  }

  async follow(
    attachment: Attachment,
    request: MessageOf<"follow">,
    send: SendFrame,
  ): Promise<"answered" | "unchanged"> {
    attachment.releaseBelow(request.oldestInUse);
    if (request.flags.retry && attachment.wasRefused) await this.#floor.claim(attachment);
    else this.#floor.release(attachment);
    attachment.wasRefused = false;
    if (this.#readOnly !== undefined) {
      await followReadOnly(this.#readOnly, request.revision, send);
      return "answered";
    }
    if (this.#lake === undefined) return "unchanged";
    await followLake(this.#lake, attachment, request.revision, send);
    // It may have ended while it was answered, and its pins with it.
    if (!this.#attachments.has(attachment.id)) attachment.releaseBelow(undefined);
    return "answered";
  }

  async commit(attachment: Attachment, request: MessageOf<"commit">, signal: AbortSignal): Promise<bigint> {
    requireWritable(attachment);
    try {
      await this.#floor.pass(attachment);
      return await this.#commit(attachment, request, signal);
    } catch (error) {
      attachment.wasRefused = error instanceof CommitConflictError;
      throw error;
    } finally {
      this.#floor.release(attachment);
    }
  }

  async #commit(
    attachment: Attachment,
    { base, changes, flags }: MessageOf<"commit">,
    signal: AbortSignal,
  ): Promise<bigint> {
    if (base === undefined) return await this.#create(attachment, changes, flags.mayHaveLanded);
    const { catalog } = this.#required();
    if (flags.mayHaveLanded && (await hasLanded(catalog, base, changes))) return base + 1n;
    const { revision } = await catalog.commitRows(changes, { base, signal });
    return revision;
  }

  async #create(
    { settings }: Attachment,
    changes: MessageOf<"commit">["changes"],
    mayHaveLanded: boolean,
  ): Promise<bigint> {
    return await this.#inTurn(async () => {
      if (this.#lake === undefined) {
        this.#lake = new FollowedLake(await this.#opener.create(settings, changes));
        return this.#lake.catalog.revision;
      }
      const { catalog } = this.#lake;
      if (mayHaveLanded && (await hasLanded(catalog, undefined, changes))) return catalog.revision;
      throw new CommitConflictError("another client has made the lake meanwhile", { remedy: "Attach again." });
    });
  }

  async createIndex(attachment: Attachment, request: MessageOf<"create_index">): Promise<boolean> {
    requireWritable(attachment);
    await this.#floor.pass(undefined);
    return await createIndex(this.#required(), request);
  }

  async dropIndex(attachment: Attachment, request: MessageOf<"drop_index">): Promise<boolean> {
    requireWritable(attachment);
    await this.#floor.pass(undefined);
    return await dropIndex(this.#required(), request);
  }

  async describeIndex(attachment: Attachment, request: MessageOf<"describe_index">): Promise<MessageOf<"index_shape">> {
    return await this.#reading(attachment, request.snapshot, (scope) => describeIndex(scope, request));
  }

  async listIndexes(attachment: Attachment, request: MessageOf<"list_indexes">): Promise<MessageOf<"indexes">> {
    return await this.#reading(attachment, request.snapshot, (scope) => listIndexes(scope, request));
  }

  async readIndex(attachment: Attachment, request: MessageOf<"read_index">): Promise<MessageOf<"row_ids">> {
    return await this.#reading(attachment, request.snapshot, (scope) => readIndex(scope, request));
  }

  async status(): Promise<LakeStatus> {
    const catalog = this.#lake?.catalog;
    const snapshot = await (catalog ?? this.#readOnly)?.snapshot();
    const byClient = new Map<string, Attachment[]>();
    for (const attachment of this.#attachments.values()) {
      const { pid, program, client } = attachment.client;
      const key = `${pid} ${program} ${client}`;
      byClient.set(key, [...(byClient.get(key) ?? []), attachment]);
    }
    return {
      revision: catalog?.revision.toString() ?? null,
      snapshot: snapshot?.snapshotId.toString() ?? null,
      clients: [...byClient.values()].map((attachments) => ({
        pid: String(attachments[0]?.client.pid),
        client: attachments[0]?.client.client ?? "",
        program: attachments[0]?.client.program ?? "",
        lakes: attachments.map(({ lake, readOnly, pins }) => ({ name: lake, readOnly, pinnedRevisions: pins })),
      })),
    };
  }

  /** Ends every attachment and closes the lake. What runs is finished first by the catalog. */
  async close(): Promise<void> {
    for (const attachment of this.#attachments.values()) this.detach(attachment);
    await this.#inTurn(async () => {
      await this.#lake?.close();
      await this.#readOnly?.close();
    });
  }

  async #reading<T>(
    attachment: Attachment,
    snapshot: bigint | undefined,
    read: (scope: ReadScope) => T | Promise<T>,
  ): Promise<T> {
    const lake = this.#required();
    const head = await lake.catalog.reads();
    try {
      if (snapshot === undefined) return await read(head);
      if (attachment.hasPinOf(snapshot)) return await read(attachment.pinOf(snapshot));
      // Without indexes nothing is pinned: then the head says as well that there are none, if it is still that snapshot's.
      return await read(head.snapshot.snapshotId === snapshot ? head : attachment.pinOf(snapshot));
    } finally {
      head.release();
    }
  }

  #required(): FollowedLake {
    if (this.#lake !== undefined) return this.#lake;
    if (this.#readOnly !== undefined) throw readersOnly();
    throw new NotFoundError("there is no lake in the store yet", {
      remedy: "Attach it with DuckLake, which makes it.",
    });
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#opening.then(work);
    this.#opening = turn.catch(() => undefined);
    return turn;
  }
}

function readersOnly(): MoraineError {
  return new UnsupportedError("index reads while the lake is attached with READ_ONLY only", {
    remedy: "Attach it without READ_ONLY, here or in another process.",
  });
}

function requireWritable({ readOnly, lake }: Attachment): void {
  if (!readOnly) return;
  throw new InvalidArgumentError(`the lake ${JSON.stringify(lake)} is attached read-only`, {
    remedy: "Attach it without READ_ONLY.",
  });
}
