import { vi } from "vitest";

// The same sequences and races, with every commit that touches a unique index as large as commits get: its rows are encoded
// once, its keys are read before its turn in small pieces, and it is run again in its turn.
vi.mock("../engine/limits.js", async (original) => ({
  ...(await original<object>()),
  largeCommitEntries: 1,
  derivedEntriesPerTurn: 1,
  commitsReadAhead: 2,
}));

process.env["MORAINE_SEQUENCES"] ??= "400";

await import("./differential.test.js");
