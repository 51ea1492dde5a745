import { changelogKey, snapshotKey, sysHeadKey, sysLooseRowsKey } from "@moraine/codec";
import {
  keyAt,
  packKeys,
  packValues,
  type PackedKeys,
  type PackedValues,
  type ReadView,
  valueAt,
} from "@moraine/store";
import { changedKeys } from "../engine/follow.js";
import { readHead } from "../engine/load-state.js";
import { mostNewsKeys, mostNewsSnapshots } from "./limits.js";

/** The records that bring a state of an older snapshot up to a cut, read ahead where the store is. */
export interface News {
  readonly keys: PackedKeys;
  readonly values: PackedValues;
}

/** What `follow` will read of a view for a state of snapshot `since`; `undefined` where that is too much, or not known. */
export async function readNews(view: ReadView, since: bigint): Promise<News | undefined> {
  const head = await readHead(view);
  const gap = head.snapshotId - since;
  if (gap <= 0n || gap > mostNewsSnapshots) return undefined;
  const changed = await changedKeys(view, since + 1n, head.snapshotId);
  if (changed === undefined || changed.length > mostNewsKeys) return undefined;
  const logs: Uint8Array[] = [];
  for (let id = since + 1n; id <= head.snapshotId; id++) logs.push(changelogKey(id));
  const keys = packKeys([sysHeadKey, sysLooseRowsKey, snapshotKey(head.snapshotId), ...logs, ...changed]);
  return { keys, values: await view.getMany(keys) };
}

/** A view of a remote cut that finds the news in memory. */
export function withNews(view: ReadView, { keys, values }: News): ReadView {
  const known = new Map<string, Uint8Array | undefined>();
  for (let at = 0; at < keys.ends.length; at++) known.set(nameOf(keyAt(keys, at)), valueAt(values, at));
  return {
    async getMany(asked) {
      const found: (Uint8Array | undefined)[] = [];
      for (let at = 0; at < asked.ends.length; at++) {
        const name = nameOf(keyAt(asked, at));
        if (!known.has(name)) return await view.getMany(asked);
        found.push(known.get(name));
      }
      return packValues(found);
    },
    scan: (range, options) => view.scan(range, options),
  };
}

function nameOf(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString("latin1");
}
