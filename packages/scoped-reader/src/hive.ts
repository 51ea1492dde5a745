/**
 * Values that the directories of a path give to partition columns: `key=value` directories, found as DuckDB finds them
 * (`HivePartitioning::Parse`): a part with several equals signs, with `?` or a line break is none, the file's own name
 * is none, and the first of equal keys counts.
 */
export function hivePartitions(path: string): Map<string, string> {
  const partitions = new Map<string, string>();
  const parts = path.split(/[/\\]/);
  parts.pop();
  for (const part of parts) {
    const equals = part.indexOf("=");
    if (equals <= 0 || part.indexOf("=", equals + 1) >= 0 || /[?\n]/.test(part)) continue;
    const key = part.slice(0, equals);
    if (!partitions.has(key)) partitions.set(key, part.slice(equals + 1));
  }
  return partitions;
}

/** Whether a raw directory value stands for NULL: Hive's own word, DuckDB's, and nothing at all where the column holds no text. */
export function isHiveNull(raw: string, isText: boolean): boolean {
  const upper = raw.toUpperCase();
  return upper === "__HIVE_DEFAULT_PARTITION__" || upper === "NULL" || (raw === "" && !isText);
}

/** Decodes `%xx` as bytes; anything else stays as it is, a lone percent sign too. `undefined` when the bytes are not UTF-8. */
export function percentDecode(text: string): string | undefined {
  if (!text.includes("%")) return text;
  const source = new TextEncoder().encode(text);
  const bytes: number[] = [];
  for (let i = 0; i < source.length; i++) {
    const byte = source[i] ?? 0;
    const hex = byte === 0x25 ? String.fromCharCode(source[i + 1] ?? 0, source[i + 2] ?? 0) : "";
    if (/^[0-9a-fA-F]{2}$/.test(hex)) {
      bytes.push(Number.parseInt(hex, 16));
      i += 2;
    } else {
      bytes.push(byte);
    }
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes));
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}
