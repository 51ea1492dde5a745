import type { RowChanges, StoreLakes } from "@moraine/catalog";
import type { MoraineError } from "@moraine/codec";
import { attachOptions } from "./attach-options.js";
import { LakePlace } from "./lake-place.js";
import type { LakeOpener, LakeSettings, OpenedLake, WritableLake } from "./lake.js";
import { isSameSchema, lakeFolder } from "./metadata-schema.js";

/** Below a store's place: where its other lakes have theirs. SlateDB has no files of that name. */
const lakesFolder = "lakes";

/**
 * Opens the lakes of one store in this process. The first lake made is the store's own; each other one is a store below it, which
 * is recorded in the first before it is made: what is recorded and not there yet is no lake.
 */
export class StoreOpener implements LakeOpener {
  readonly #location: string;
  readonly #onFailure: (error: MoraineError) => void;
  readonly #own: LakePlace;
  readonly #others = new Map<string, LakePlace>();

  /**
   * `location` is canonical: an absolute path or a URL. `onFailure` is told when a store that is written to ends by itself, as it does when
   * its folder is gone.
   */
  constructor(location: string, onFailure: (error: MoraineError) => void = () => undefined) {
    this.#location = location;
    this.#onFailure = onFailure;
    this.#own = new LakePlace(location, onFailure);
  }

  get failure(): Error | null {
    for (const { failure } of [this.#own, ...this.#others.values()]) if (failure !== null) return failure;
    return null;
  }

  async open(settings: LakeSettings): Promise<readonly OpenedLake[]> {
    attachOptions(settings.options);
    const own = await this.#own.open(settings);
    if (own === undefined) return [];
    const { ownSchema, others } = await this.#own.lakes();
    const lakes: OpenedLake[] = [{ schema: ownSchema, ...own }];
    for (const { schema, folder } of others) {
      const other = await this.#other(folder).open(settings);
      if (other !== undefined) lakes.push({ schema, ...other });
    }
    return lakes;
  }

  async use(settings: LakeSettings, schema: string): Promise<void> {
    await this.#placeOf(await this.#own.lakes(), schema)?.use(settings);
  }

  async create(settings: LakeSettings, schema: string, changes: RowChanges): Promise<WritableLake> {
    if (!this.#own.isWritable) return await this.#own.create(settings, schema, changes);
    const lakes = await this.#own.lakes();
    const folder = lakeFolder(schema);
    if (this.#placeOf(lakes, schema) === undefined) {
      await this.#own.recordLakes({ ...lakes, others: [...lakes.others, { schema, folder }] });
    }
    return await this.#other(folder).create(settings, schema, changes);
  }

  async make(settings: LakeSettings): Promise<WritableLake> {
    return await this.#own.make(settings);
  }

  /** Lets others open the store for writing. To be called when the lakes have been closed. */
  async close(): Promise<void> {
    const closings = await Promise.allSettled([this.#own, ...this.#others.values()].map((place) => place.close()));
    for (const closing of closings) if (closing.status === "rejected") throw closing.reason;
  }

  #placeOf({ ownSchema, others }: StoreLakes, schema: string): LakePlace | undefined {
    if (isSameSchema(ownSchema, schema)) return this.#own;
    const found = others.find((other) => isSameSchema(other.schema, schema));
    return found && this.#other(found.folder);
  }

  #other(folder: string): LakePlace {
    const known = this.#others.get(folder);
    if (known !== undefined) return known;
    const location = `${this.#location.replace(/\/+$/u, "")}/${lakesFolder}/${folder}`;
    const place = new LakePlace(location, this.#onFailure, this.#location);
    this.#others.set(folder, place);
    return place;
  }
}
