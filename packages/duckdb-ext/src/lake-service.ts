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
import { followEvery } from "./follow-every.js";
import { FollowedLake, type LakeOpener, type OpenedLake, type ReadLake, type WritableLake } from "./lake.js";
import { defaultMetadataSchema, isSameSchema, makesLake, schemaOf } from "./metadata-schema.js";
import { hasLanded } from "./landed.js";
import type { RemoteContext } from "./remote/answer.js";
import { connectSettings } from "./remote/connect-settings.js";
import { RetryFloor } from "./retry-floor.js";
import { requireSameLake } from "./same-lake.js";
import type { MessageOf } from "./wire/messages.js";
import { amongOthers, isOfLake, isOfManyLakes, markOf, numberOf, requireOwn, wireRevision } from "./wire-revision.js";

/** What a service says about itself, without the parts that only its process knows. */
export interface LakeStatus {
  readonly revision: string | null;
  readonly snapshot: string | null;
  /** The lakes of the store by their metadata schemas, the oldest first: the one that `revision` and `snapshot` are of. */
  readonly schemas: readonly {
    readonly schema: string;
    readonly revision: string | null;
    readonly snapshot: string;
  }[];
  readonly clients: readonly {
    readonly pid: string;
    readonly client: string;
    readonly program: string;
    readonly lakes: readonly { readonly name: string; readonly readOnly: boolean; readonly pinnedRevisions: number }[];
  }[];
}

/**
 * The lakes of a store, and whoever is attached to them. Knows nothing of sockets: connections hand their requests in. The lakes are
 * opened by the first attachment and closed by `close`. An attachment is for one of them; where there are several, which one is known
 * by its `use` only, or by its first commit.
 */
export class LakeService {
  readonly #opener: LakeOpener;
  readonly #attachments = new Map<bigint, Attachment>();
  readonly #retryFloorMs: number | undefined;
  #lastAttachment = 0n;
  /** The oldest first. */
  #lakes: readonly FollowedLake[] = [];
  /** As long as nobody is attached who writes. */
  #readLakes: readonly ReadLake[] = [];
  /** Openings come one after the other. */
  #opening: Promise<unknown> = Promise.resolve();

  constructor(opener: LakeOpener, retryFloorMs?: number) {
    this.#opener = opener;
    this.#retryFloorMs = retryFloorMs;
  }

  async attach(
    request: MessageOf<"attach">,
    client: ClientInfo,
  ): Promise<{ attachment: Attachment; dataPath: string | undefined; exists: boolean }> {
    // DuckLake has its own words for a lake that is not there and may not be made.
    await this.#inTurn(async () => await this.#take(await this.#opener.open(request)));
    const attachment = new Attachment(++this.#lastAttachment, request.lake, client, request);
    this.#attachments.set(attachment.id, attachment);
    this.#listen();
    const lakes = this.#served();
    const dataPath = lakes.length === 1 ? (await lakes[0]?.catalog.snapshot())?.dataPath() : undefined;
    return { attachment, exists: lakes.length > 0, dataPath };
  }

  /** The attachment turns out to be for the lake of a metadata schema, which may not be there yet. */
  async use(
    attachment: Attachment,
    { schema, dataSecret }: MessageOf<"use">,
  ): Promise<{ dataPath: string | undefined; exists: boolean }> {
    this.#tie(attachment, schema, dataSecret.size > 0 ? dataSecret : undefined);
    const lake = named(this.#served(), schema);
    if (lake === undefined) return { exists: false, dataPath: undefined };
    await this.#opener.use(attachment.settings, schema);
    return { exists: true, dataPath: (await lake.catalog.snapshot()).dataPath() };
  }

  /**
   * Attaches an application that reads and commits by itself, to the lake that the store was made with. With `create` it makes that lake
   * where there is none.
   */
  async connect(
    request: MessageOf<"connect">,
    client: ClientInfo,
  ): Promise<{ attachment: Attachment; dataPath: string | undefined; exists: boolean }> {
    const settings = connectSettings(request);
    const lake = `${client.program} (connected)`;
    const attached = await this.attach({ type: "attach", store: request.store, lake, ...settings }, client);
    if (!attached.exists && !request.create) return attached;
    await this.#inTurn(async () => {
      if (this.#lakes.length > 0) return;
      const catalog = await this.#opener.make(settings);
      this.#lakes = [await this.#followed({ schema: defaultMetadataSchema, catalog })];
      this.#listen();
    });
    const snapshot = await this.connected().catalog.snapshot();
    return { attachment: attached.attachment, exists: true, dataPath: snapshot.dataPath() };
  }

  /** What the requests of a connected application are answered from: the lake that the store was made with. */
  connected(): Pick<RemoteContext, "catalog" | "floor"> {
    const { catalog, floor } = this.#required(this.#lakes[0], undefined);
    return { catalog, floor };
  }

  /** Why nothing can be done on the lakes any more, for good; `null` as long as something can. Takes microseconds. */
  get failure(): Error | null {
    return this.#opener.failure;
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
    for (const { floor } of this.#lakes) floor.leave(attachment);
    attachment.releaseBelow(undefined);
    attachment.cuts.end();
  }

  /** The attachment repeats no refused commit any more: others need not wait for it. */
  letGo(attachment: Attachment): void {
    for (const { floor } of this.#lakes) floor.release(attachment);
  }

  async follow(
    attachment: Attachment,
    request: MessageOf<"follow">,
    send: SendFrame,
  ): Promise<"answered" | "unchanged"> {
    attachment.releaseBelow(request.oldestInUse === undefined ? undefined : numberOf(request.oldestInUse));
    const isRetry = request.flags.retry && attachment.refusedCommits > 0;
    // Others of its transactions begin meanwhile.
    if (isRetry) attachment.refusedCommits -= 1;
    if (this.failure !== null) throw this.failure;
    const served = await this.#servedTo(attachment, request.revision);
    if (served.length === 0) return "unchanged";
    requireOwn(served, request.revision);
    const lake = named(this.#lakes, attachment.schema) ?? onlyOne(this.#lakes);
    if (lake !== undefined) {
      if (isRetry) await lake.floor.claim(attachment);
      else lake.floor.release(attachment);
      await followLake(lake, attachment, { known: request.revision, mayBeOlder: request.flags.mayBeOlder }, send);
      if (isRetry) lake.floor.prolong(attachment);
      if (this.#attachments.size === 1) lake.caughtUp();
      // It may have ended while it was answered, and its pins with it.
      if (!this.#attachments.has(attachment.id)) attachment.releaseBelow(undefined);
      return "answered";
    }
    const read = named(this.#readLakes, attachment.schema) ?? onlyOne(this.#readLakes);
    if (read !== undefined) await followReadOnly(read, request.revision, send);
    else attachment.every = await followEvery(served, request.revision, send);
    return "answered";
  }

  async commit(attachment: Attachment, request: MessageOf<"commit">, signal: AbortSignal): Promise<bigint> {
    requireWritable(attachment);
    const { base, changes } = request;
    const schema = schemaOf(changes) ?? attachment.schema ?? defaultMetadataSchema;
    const lake = named(this.#lakes, schema);
    const work = async (): Promise<bigint> =>
      base === undefined || makesLake(changes)
        ? await this.#create(attachment, schema, request)
        : await this.#commit(this.#required(lake, schema), attachment, { ...request, base }, signal);
    try {
      return await (lake === undefined ? work() : lake.floor.commit(attachment, work));
    } catch (error) {
      if (error instanceof CommitConflictError) attachment.refusedCommits += 1;
      throw error;
    }
  }

  async #commit(
    lake: FollowedLake,
    attachment: Attachment,
    { base: given, changes, flags }: MessageOf<"commit"> & { readonly base: bigint },
    signal: AbortSignal,
  ): Promise<bigint> {
    const { schema, mark, catalog } = lake;
    requireOwn(this.#lakes, given);
    const isOfMany = isOfManyLakes(given);
    const known = attachment.every?.revision === given ? attachment.every.revisions.get(schema) : undefined;
    const base = isOfMany ? known : isOfLake(mark, given) ? numberOf(given) : undefined;
    // The copy stands at the base, and takes over what it has committed itself.
    const reached = (revision: bigint): bigint => {
      const own = wireRevision(mark, revision);
      return isOfMany ? amongOthers(own) : own;
    };
    if (flags.mayHaveLanded && (await hasLanded(catalog, base, changes)))
      return reached((base ?? catalog.revision) + 1n);
    if (base === undefined) throw new CommitConflictError("the transaction began before the store was opened anew");
    const { revision } = await catalog.commitRows(changes, { base, signal });
    this.#tie(attachment, schema);
    return reached(revision);
  }

  async #create(attachment: Attachment, schema: string, { changes, flags }: MessageOf<"commit">): Promise<bigint> {
    return await this.#inTurn(async () => {
      const known = named(this.#lakes, schema);
      if (known !== undefined && !(flags.mayHaveLanded && (await hasLanded(known.catalog, undefined, changes)))) {
        // Several clients that start at once all make the lake. Those that were not first take over what the first one made.
        await this.#opener.use(attachment.settings, schema);
        await requireSameLake(known.catalog, changes);
        this.#tie(attachment, schema);
        return amongOthers(wireRevision(known.mark, known.catalog.revision));
      }
      this.#tie(attachment, schema);
      let lake = known;
      if (lake === undefined) {
        const catalog = await this.#opener.create(attachment.settings, schema, changes);
        lake = await this.#followed({ schema, catalog });
        this.#lakes = [...this.#lakes, lake];
        this.#listen();
      }
      const revision = wireRevision(lake.mark, lake.catalog.revision);
      return this.#lakes.length === 1 ? revision : amongOthers(revision);
    });
  }

  async createIndex(attachment: Attachment, request: MessageOf<"create_index">, signal: AbortSignal): Promise<boolean> {
    requireWritable(attachment);
    const lake = this.#lakeOf(attachment);
    await lake.floor.pass(undefined);
    return await lake.committing(() => createIndex(lake, request, signal));
  }

  async dropIndex(attachment: Attachment, request: MessageOf<"drop_index">, signal: AbortSignal): Promise<boolean> {
    requireWritable(attachment);
    const lake = this.#lakeOf(attachment);
    await lake.floor.pass(undefined);
    return await lake.committing(() => dropIndex(lake, request, signal));
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
    const lakes = await Promise.all(
      this.#served().map(async ({ schema, catalog }) => ({
        schema,
        revision: "revision" in catalog ? catalog.revision.toString() : null,
        snapshot: (await catalog.snapshot()).snapshotId.toString(),
      })),
    );
    const byClient = new Map<string, Attachment[]>();
    for (const attachment of this.#attachments.values()) {
      const { pid, program, client } = attachment.client;
      const key = `${pid} ${program} ${client}`;
      byClient.set(key, [...(byClient.get(key) ?? []), attachment]);
    }
    return {
      revision: lakes[0]?.revision ?? null,
      snapshot: lakes[0]?.snapshot ?? null,
      schemas: lakes,
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
      for (const lake of this.#lakes) await lake.close();
      for (const { catalog } of this.#readLakes) await catalog.close();
    });
  }

  async #reading<T>(
    attachment: Attachment,
    snapshot: bigint | undefined,
    read: (scope: ReadScope) => T | Promise<T>,
  ): Promise<T> {
    const lake = this.#lakeOf(attachment);
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

  /** The lake that a request about indexes is for. */
  #lakeOf({ schema }: Attachment): FollowedLake {
    return this.#required(schema === undefined ? onlyOne(this.#lakes) : named(this.#lakes, schema), schema);
  }

  #required(lake: FollowedLake | undefined, schema: string | undefined): FollowedLake {
    if (lake !== undefined) return lake;
    if (this.#readLakes.length > 0) throw readersOnly();
    if (this.#lakes.length === 0) {
      throw new NotFoundError("there is no lake in the store yet", {
        remedy: "Attach it with DuckLake, which makes it.",
      });
    }
    const what =
      schema === undefined
        ? `the one of ${this.#lakes.length} lakes that is meant`
        : `a lake in the schema ${JSON.stringify(schema)}`;
    throw new NotFoundError(`${what} of the store`, {
      remedy: "Attach it with DuckLake, and with the METADATA_SCHEMA of the lake.",
    });
  }

  #tie(attachment: Attachment, schema: string, dataSecret?: ReadonlyMap<string, string>): void {
    const before = attachment.schema === undefined ? onlyOne(this.#lakes) : named(this.#lakes, attachment.schema);
    // Its cuts are of another lake.
    if (before !== named(this.#lakes, schema)) attachment.releaseBelow(undefined);
    attachment.use(schema, dataSecret);
  }

  /**
   * The lakes that a client can follow which has tables at a revision: there was a lake when it attached, before this service began. Where
   * there is none, it is looked for again, as the store's folder may have been moved away and put back.
   */
  async #servedTo(attachment: Attachment, revision: bigint | undefined): Promise<readonly (FollowedLake | ReadLake)[]> {
    if (revision !== undefined && this.#served().length === 0) {
      await this.#inTurn(async () => await this.#take(await this.#opener.open(attachment.settings)));
      this.#listen();
      if (this.#served().length === 0) {
        throw new NotFoundError("the lake that was attached: there is none at the store's place any more", {
          remedy: "Put the store's folder back, or detach the lake and attach it where it is now.",
        });
      }
    }
    return this.#served();
  }

  #served(): readonly (FollowedLake | ReadLake)[] {
    return this.#lakes.length > 0 ? this.#lakes : this.#readLakes;
  }

  async #take(opened: readonly OpenedLake[]): Promise<void> {
    const written = opened.filter((lake) => lake.access === "write");
    if (written.length === 0) {
      const read = await Promise.all(opened.map(async (lake) => ({ ...lake, mark: await markOf(lake.catalog) })));
      if (read.length > 0) this.#readLakes = read;
      return;
    }
    const known = this.#lakes;
    const lakes = await Promise.all(
      written.map(async (lake) => {
        return known.find(({ catalog }) => catalog === lake.catalog) ?? (await this.#followed(lake));
      }),
    );
    this.#readLakes = [];
    this.#lakes = lakes;
  }

  /** With an attachment that is not alone, each has to be told of what others commit. */
  #listen(): void {
    if (this.#attachments.size > 1) for (const lake of this.#lakes) lake.listen();
  }

  async #followed({
    schema,
    catalog,
  }: {
    readonly schema: string;
    readonly catalog: WritableLake;
  }): Promise<FollowedLake> {
    return new FollowedLake(schema, await markOf(catalog), catalog, new RetryFloor(this.#retryFloorMs));
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#opening.then(work);
    this.#opening = turn.catch(() => undefined);
    return turn;
  }
}

function named<Lake extends { readonly schema: string }>(
  lakes: readonly Lake[],
  schema: string | undefined,
): Lake | undefined {
  return schema === undefined ? undefined : lakes.find((lake) => isSameSchema(lake.schema, schema));
}

function onlyOne<Lake>(lakes: readonly Lake[]): Lake | undefined {
  return lakes.length === 1 ? lakes[0] : undefined;
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
