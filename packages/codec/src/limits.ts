/** Bytes of the buffer in which record values are encoded; a larger value gets a buffer of its own for a moment. */
export const valueScratchBytes = 65_536;

/** Deepest nesting of unknown groups that a decoder skips; deeper is corruption. */
export const maxSkippedGroups = 32;

/** Bytes of a new index key builder. */
export const defaultKeyBuilderBytes = 4_096;

/** Bytes of the buffer in which one bound is built, before it has to grow. */
export const boundBytes = 128;

/** Bytes a key of the buffer in which many lookup keys are built, before it has to grow. */
export const equalityPrefixBytes = 32;

/** Most bytes of keys that one builder holds: positions are 32-bit. */
export const maxKeyBuilderBytes = 0x7fff_ffff;

/** Most column type names whose parse is remembered. */
export const maxCachedColumnTypes = 256;

/** Deepest nesting of a DuckDB type that is read: `INTEGER[]` has a depth of two. */
export const maxDuckDbTypeDepth = 64;

/** Longest text of a DuckDB type whose parse is remembered. */
export const maxCachedTypeChars = 4_096;
