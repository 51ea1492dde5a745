import { deserialize, serialize } from "node:v8";
import type { Catalog } from "../catalog.js";
import type { CatalogLink, LandedCommit, RemoteCut, RemoteMethod } from "../connected/link.js";
import { readNews } from "../connected/news.js";
import { checkMember, type RecordedCommit } from "../connected/recorded-commit.js";
import { commitRecorded, StaleBaseError } from "../connected/replay.js";

/** A link to a catalog of the same process. What goes over a socket elsewhere goes through the same bytes. */
export class LoopbackLink implements CatalogLink {
  readonly #catalog: Catalog;

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
  }

  async pin(held: RemoteCut | undefined, since: bigint | undefined): Promise<RemoteCut> {
    const cut = await this.#catalog.pinHead();
    if (held?.revision === cut.revision) {
      cut.release();
      return held;
    }
    return { ...cut, news: since === undefined ? undefined : await readNews(cut.view, since) };
  }

  async claim(): Promise<void> {
    await Promise.resolve();
  }

  async commit(commit: RecordedCommit, signal: AbortSignal | undefined): Promise<LandedCommit | "stale"> {
    const members = commit.members.map((member) => checkMember(passed(member)));
    try {
      const snapshots = await commitRecorded(this.#catalog, { ...commit, members }, signal);
      return { snapshots, cut: await this.pin(undefined, commit.baseSnapshot) };
    } catch (error) {
      if (error instanceof StaleBaseError) return "stale";
      throw error;
    }
  }

  async call(method: RemoteMethod, args: unknown): Promise<unknown> {
    const run = this.#catalog[method] as (this: Catalog, args: unknown) => Promise<unknown>;
    return passed(await run.call(this.#catalog, passed(args)));
  }

  async close(): Promise<void> {
    await Promise.resolve();
  }
}

function passed(value: unknown): unknown {
  return deserialize(serialize(value));
}
