/** The store format that this version reads and writes, and the only one. */
export const formatVersion = 9n;

/** Recorded in a new store beside its format, for whoever has to tell later which program made it. */
export const writerVersion = "moraine-ts 0.1.0";
