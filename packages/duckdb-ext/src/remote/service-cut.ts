import type { News, RemoteCut } from "@moraine/catalog";
import {
  type KeyRange,
  type PackedKeys,
  type PackedValues,
  type ReadView,
  type RowBlock,
  rowKey,
  type ScanOptions,
} from "@moraine/store";
import { remoteBlockRows } from "../limits.js";
import type { Message, MessageName, MessageOf } from "../wire/messages.js";
import { type Answer, ConnectionLostError } from "./exchange.js";
import { cutIsGone, type Session } from "./session.js";

/** A cut that a service has pinned for this process. */
export class ServiceCut implements RemoteCut, ReadView {
  readonly revision: bigint;
  readonly news: News | undefined;
  readonly #session: Session;
  #released = false;

  constructor(session: Session, { revision, news }: Pick<MessageOf<"pinned">, "revision" | "news">) {
    this.#session = session;
    this.revision = revision;
    this.news = news && { keys: { data: news.keys, ends: news.keyEnds }, values: news };
  }

  get view(): ReadView {
    return this;
  }

  isHeldIn(session: Session): boolean {
    return this.#session === session && !this.#released;
  }

  async getMany({ data, ends }: PackedKeys): Promise<PackedValues> {
    return await this.#ask({ type: "read_many", ...this.#place(), keys: data, ends }, "values");
  }

  async *scan(range: KeyRange, options: ScanOptions = {}): AsyncIterableIterator<RowBlock> {
    const { reverse = false, limit = Number.POSITIVE_INFINITY, blockRows = remoteBlockRows } = options;
    let { start, end } = range;
    for (let left = limit; left > 0;) {
      const rows = Math.min(left, blockRows, remoteBlockRows);
      const answer = await this.#ask({ type: "scan_rows", ...this.#place(), start, end, reverse, rows }, "row_block");
      const block = { count: answer.ends.length / 2, data: answer.data, ends: answer.ends };
      if (block.count === 0) return;
      left -= block.count;
      const last = rowKey(block, block.count - 1);
      if (reverse) end = last.slice();
      else start = keyBehind(last);
      yield block;
      if (!answer.more) return;
    }
  }

  release(): void {
    if (this.#released) return;
    this.#released = true;
    if (this.#session.hasEnded) return;
    // With a session that ends meanwhile its cuts are gone anyway.
    this.#session.inOrder({ type: "unpin", ...this.#place() }, ["done"]).catch(() => undefined);
  }

  #place(): { readonly attachment: bigint; readonly revision: bigint } {
    return { attachment: this.#session.attachment, revision: this.revision };
  }

  async #ask<Name extends MessageName>(request: Message, expected: Name): Promise<Answer<Name>> {
    if (this.#released) throw cutIsGone(undefined);
    try {
      return await this.#session.beside(request, [expected]);
    } catch (error) {
      throw error instanceof ConnectionLostError ? cutIsGone(error) : error;
    }
  }
}

/** The least key above another one. */
function keyBehind(key: Uint8Array): Uint8Array {
  const next = new Uint8Array(key.length + 1);
  next.set(key);
  return next;
}
