import { ConfigurationError, ConstraintError, currentPrefix, decodeKey, historyKey, prefixEnd } from "@moraine/codec";
import { findDeadIndexes, sweepIndex } from "@moraine/index-core";
import { type KeyRange, type PackedKeys, packKeys, type ReadView, rowKey } from "@moraine/store";
import type { Committer } from "./engine/committer.js";
import { WriteSet } from "./engine/pending-writes.js";
import { stampHead } from "./engine/stamp-head.js";
import { maintenanceBatchRecords } from "./engine/limits.js";
import { checkBoolean, checkKnown, type Names, orDefault } from "./verbs/arguments.js";

export interface MaintainOptions {
  /** Entries of dropped indexes. Default true. */
  readonly sweepIndexes?: boolean;
  /** Column statistics of files that no snapshot can see. Default true. */
  readonly sweepFileStatistics?: boolean;
  /** Records deleted in one batch. Default 1,024. */
  readonly batchSize?: number;
  readonly onProgress?: (report: MaintainReport) => void;
}

const maintainNames: Names<MaintainOptions> = {
  sweepIndexes: true,
  sweepFileStatistics: true,
  batchSize: true,
  onProgress: true,
};

export interface MaintainReport {
  readonly indexesSwept: number;
  readonly indexEntriesReclaimed: number;
  readonly fileColumnStatsReclaimed: number;
}

/** Reclaims space beside running commits. Each batch moves the head's batch number and makes no snapshot. */
export class Maintenance {
  readonly #view: ReadView;
  readonly #committer: Committer;

  constructor(view: ReadView, committer: Committer) {
    this.#view = view;
    this.#committer = committer;
  }

  async maintain(options: MaintainOptions): Promise<MaintainReport> {
    checkKnown(options, maintainNames, "options");
    const sweepIndexes = checkBoolean(orDefault(options.sweepIndexes, true), "options.sweepIndexes");
    const sweepFileStatistics = checkBoolean(
      orDefault(options.sweepFileStatistics, true),
      "options.sweepFileStatistics",
    );
    const batchSize = checkBatchSize(options.batchSize ?? maintenanceBatchRecords);
    let report: MaintainReport = { indexesSwept: 0, indexEntriesReclaimed: 0, fileColumnStatsReclaimed: 0 };
    const progress = (change: Partial<MaintainReport>): void => {
      report = { ...report, ...change };
      options.onProgress?.(report);
    };
    if (sweepFileStatistics) {
      await this.#sweepFileStatistics(batchSize, (count) =>
        progress({ fileColumnStatsReclaimed: report.fileColumnStatsReclaimed + count }),
      );
    }
    if (sweepIndexes) {
      for (const indexId of await findDeadIndexes(this.#view, (id) => this.#isLive(id))) {
        await this.#sweepIndex(indexId, batchSize, (count) =>
          progress({ indexEntriesReclaimed: report.indexEntriesReclaimed + count }),
        );
        progress({ indexesSwept: report.indexesSwept + 1 });
      }
    }
    return report;
  }

  /** Deletes up to `limit` entries of one dropped index. */
  async reclaim(indexId: bigint, limit: number): Promise<number> {
    checkBatchSize(limit);
    if (this.#isLive(indexId)) {
      throw new ConstraintError(`index ${indexId} is still live; drop it before reclaiming its entries`, {
        remedy: "Drop the index first.",
      });
    }
    const { dead } = await sweepIndex(this.#view, indexId, limit);
    await this.#delete(dead);
    return dead.ends.length;
  }

  /** Ids are never given out twice, so an index that is not live now is dead for good. A staged one that has not landed counts as live. */
  #isLive(indexId: bigint): boolean {
    const { state } = this.#committer.head;
    return state.indexById(indexId) !== undefined || indexId >= state.head.nextCatalogId;
  }

  async #sweepIndex(indexId: bigint, batchSize: number, onBatch: (count: number) => void): Promise<void> {
    let resumeAt: Uint8Array | undefined;
    do {
      const { dead, resumeAt: next } = await sweepIndex(this.#view, indexId, batchSize, resumeAt);
      if (dead.ends.length > 0) {
        await this.#delete(dead);
        onBatch(dead.ends.length);
      }
      resumeAt = next;
    } while (resumeAt !== undefined);
  }

  async #sweepFileStatistics(batchSize: number, onBatch: (count: number) => void): Promise<void> {
    const prefix = currentPrefix("file_column_stats");
    const range: KeyRange = { start: prefix, end: prefixEnd(prefix) };
    const fates = new Map<string, boolean>();
    let dead: Uint8Array[] = [];
    const flush = async (): Promise<void> => {
      if (dead.length === 0) return;
      await this.#delete(packKeys(dead));
      onBatch(dead.length);
      dead = [];
    };
    for await (const block of this.#view.scan(range)) {
      for (let i = 0; i < block.count; i++) {
        const bytes = rowKey(block, i).slice();
        const key = decodeKey(bytes);
        if (key.subspace !== "current") continue;
        const [tableId, fileId] = key.entity.ids;
        if (tableId === undefined || fileId === undefined) continue;
        const name = `${tableId}/${fileId}`;
        const isDead = fates.get(name) ?? !(await this.#fileIsKnown(tableId, fileId));
        fates.set(name, isDead);
        if (!isDead) continue;
        dead.push(bytes);
        if (dead.length >= batchSize) await flush();
      }
    }
    await flush();
  }

  async #fileIsKnown(tableId: bigint, fileId: bigint): Promise<boolean> {
    if (this.#committer.head.state.get("data_file", tableId, fileId) !== undefined) return true;
    if (fileId >= this.#committer.head.state.head.nextFileId) return true;
    const prefix = historyKey("data_file", [tableId, fileId], 0n).slice(0, -8);
    for await (const block of this.#view.scan({ start: prefix, end: prefixEnd(prefix) }, { limit: 1 }))
      if (block.count > 0) return true;
    return false;
  }

  async #delete(keys: PackedKeys): Promise<void> {
    if (keys.ends.length === 0) return;
    await this.#committer.commit((base) => {
      const writes = new WriteSet();
      writes.deletePacked(keys);
      return { commits: [stampHead(base, writes)], result: undefined };
    });
  }
}

function checkBatchSize(size: number): number {
  if (!Number.isSafeInteger(size) || size <= 0) {
    throw new ConfigurationError(`a batch of ${String(size)} records`, { remedy: "Give a whole number above 0." });
  }
  return size;
}
