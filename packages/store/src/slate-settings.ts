import { Settings } from "@slatedb/uniffi";
import { limits } from "./limits.js";

/** SlateDB's settings for a writer. What is not named here keeps SlateDB's default. */
export function writerSettings(walMinAgeMs: number): Settings {
  const settings = Settings.default();
  const set = (key: string, value: unknown): void => settings.set(key, JSON.stringify(value));
  // Flushing is decided above the binding (see FlushGroup), so that each policy counts its write-ahead objects alike.
  set("flush_interval", null);
  set("manifest_poll_interval", milliseconds(limits.manifestPollIntervalMs));
  // A filter for every table, however small: most probes of an index ask for keys that do not exist.
  set("min_filter_keys", 1);
  set("l0_max_ssts", limits.l0Tables);
  set("l0_sst_size_bytes", limits.l0TableBytes);
  set("max_unflushed_bytes", limits.unflushedBytes);
  set("compactor_options.poll_interval", milliseconds(limits.compactorPollIntervalMs));
  const collect = (intervalMs: number, minAgeMs: number): unknown => {
    return { interval: milliseconds(intervalMs), min_age: milliseconds(minAgeMs) };
  };
  set("garbage_collector_options.wal_options", collect(limits.collectionIntervalMs, walMinAgeMs));
  // A scan reads the tables that there were at its start. The age that counts is that of the table, not of its
  // replacement, so the interval is what gives a long scan its time.
  set(
    "garbage_collector_options.compacted_options",
    collect(limits.tableCollectionIntervalMs, limits.tableCollectionIntervalMs),
  );
  return settings;
}

function milliseconds(count: number): string {
  return `${count}ms`;
}
