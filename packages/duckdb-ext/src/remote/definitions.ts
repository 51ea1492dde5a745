import { bool, bytes, list, option, record, text, u32, u32s, u64 } from "../wire/fields.js";

/** Records that a reader of an older snapshot will ask for. A length of `absent` (all bits set) stands for a key without a value. */
const news = option(record({ keys: bytes, keyEnds: u32s, data: bytes, offsets: u32s, lengths: u32s }));

/** Messages of connected applications: their kinds, and their fields in order. Source: PROTOCOL.md, "Connected applications". */
export const remoteDefinitions = {
  connect: [0x10, { store: text, cwd: text, dataPath: option(text), encrypted: option(bool), create: bool }],
  pin: [0x11, { attachment: u64, known: option(u64), since: option(u64) }],
  unpin: [0x12, { attachment: u64, revision: u64 }],
  read_many: [0x13, { attachment: u64, revision: u64, keys: bytes, ends: u32s }],
  scan_rows: [
    0x14,
    { attachment: u64, revision: u64, start: option(bytes), end: option(bytes), reverse: bool, rows: u32 },
  ],
  claim: [0x15, { attachment: u64, holds: bool }],
  commit_verbs: [
    0x16,
    {
      attachment: u64,
      base: u64,
      baseSnapshot: u64,
      author: option(text),
      message: option(text),
      extraInfo: option(text),
      members: list(bytes),
    },
  ],
  call: [0x17, { attachment: u64, method: text, arguments: bytes }],
  pinned: [0x91, { revision: u64, news }],
  values: [0x93, { data: bytes, offsets: u32s, lengths: u32s }],
  row_block: [0x94, { data: bytes, ends: u32s, more: bool }],
  landed: [0x96, { snapshots: list(u64), revision: u64, news }],
  stale: [0x97, {}],
  progress: [0x98, { value: bytes }],
  returned: [0x99, { value: bytes }],
  refused: [0x9f, { code: text, message: text, remedy: text }],
} as const;
