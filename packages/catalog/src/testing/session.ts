import {
  FormatValue,
  OptionScopeValue,
  SchemaValue,
  SnapshotValue,
  currentKey,
  encodeValue,
  snapshotKey,
  sysFormatKey,
} from "@moraine/codec";
import { Draft } from "../model/draft.js";
import { stageCatalogRecords, stageHead } from "../model/snapshot-record.js";
import { CatalogState } from "../model/state.js";
import { CatalogSnapshot } from "../model/view.js";
import { RecordedBatch, Records } from "./records.js";

export interface SessionOptions {
  readonly dataPath?: string;
}

/**
 * A catalog without a store: commits run one after the other, and their records are kept in memory. For tests of the
 * model and the verbs, which do no I/O.
 */
export class Session {
  readonly records = new Records();
  /** The state that each snapshot left. */
  readonly states = new Map<bigint, CatalogState>();
  state: CatalogState;
  #uuids = 0;

  constructor(options: SessionOptions = {}) {
    const snapshot = {
      ...SnapshotValue.defaults,
      snapshotTimeMicros: 1_000_000n,
      nextCatalogId: 1n,
      changesMade: 'created_schema:"main"',
    };
    const main = {
      ...SchemaValue.defaults,
      schemaUuid: "uuid 0",
      schemaName: "main",
      path: "main/",
      pathIsRelative: true,
    };
    const settings: OptionScopeValue = {
      options: new Map([
        ["encrypted", "false"],
        ...(options.dataPath === undefined ? [] : [["data_path", options.dataPath] as const]),
      ]),
    };
    const batch = new RecordedBatch();
    batch.put(sysFormatKey, encodeValue(FormatValue, { formatVersion: 9n, writerVersion: "test" }));
    batch.put(snapshotKey(0n), encodeValue(SnapshotValue, snapshot));
    batch.put(currentKey("schema", 0n), encodeValue(SchemaValue, main));
    batch.put(currentKey("option", 0n, 0n), encodeValue(OptionScopeValue, settings));
    const entities = [
      { key: { kind: "schema", ids: [0n] }, value: main },
      { key: { kind: "option", ids: [0n, 0n] }, value: settings },
    ] as const;
    this.state = CatalogState.load(entities, [], snapshot, 0n);
    stageHead(this.state, batch);
    this.records.apply(batch);
    this.states.set(0n, this.state);
  }

  draft(): Draft {
    return new Draft(this.state, { newUuid: () => `uuid ${++this.#uuids}` });
  }

  /** Runs one commit and lands it. Gives what `work` returned. */
  commit<T>(work: (draft: Draft) => T): T {
    const draft = this.draft();
    const result = work(draft);
    this.land(draft);
    return result;
  }

  /** Lands a draft; one that is empty writes nothing. Gives the batch. */
  land(draft: Draft): RecordedBatch {
    const batch = new RecordedBatch();
    if (draft.isEmpty) return batch;
    const timeMicros = 1_000_000n + draft.snapshotId;
    this.state = stageCatalogRecords(draft, { timeMicros }, batch);
    stageHead(this.state, batch);
    this.records.apply(batch);
    this.states.set(this.state.head.snapshotId, this.state);
    return batch;
  }

  /** The catalog at the head. */
  get snapshot(): CatalogSnapshot {
    return new CatalogSnapshot(this.state);
  }

  /** The catalog at a past snapshot, rebuilt from the records. */
  at(snapshotId: bigint): CatalogSnapshot {
    return new CatalogSnapshot(this.records.at(snapshotId));
  }
}
