// Processes that are killed at any moment while several DuckDBs write: what was acknowledged is there, and nothing else.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { extensionAvailable } from "../support/available.js";
import { LakeOfWriters } from "./lake-of-writers.js";

const long = process.env["MORAINE_FAULTS"] === "long";
const seed = Number(process.env["MORAINE_SEED"] ?? 1);
const kills = long ? 200 : 10;

describe.skipIf(!extensionAvailable)(`kills, seed ${seed}`, () => {
  let lake: LakeOfWriters;
  beforeEach(() => {
    lake = new LakeOfWriters(seed);
  });
  afterEach(async () => {
    await lake.close();
  });

  it(`of the service, ${kills} times`, { timeout: 60_000 + kills * 15_000 }, async () => {
    await lake.open(4);
    const killed = new Set<number>();
    await lake.during(async () => {
      for (let i = 0; i < kills; i++) {
        await lake.progress(4, 300);
        const pid = await lake.service();
        process.kill(pid, "SIGKILL");
        killed.add(pid);
      }
      await lake.progress(4, 1);
    });
    expect(killed.size, lake.summary()).toBe(kills);
    await lake.check();
  });

  it(`of a DuckDB that writes, ${kills} times, beside three others`, { timeout: 60_000 + kills * 15_000 }, async () => {
    await lake.open(4);
    const service = await lake.service();
    await lake.during(async () => {
      for (let i = 0; i < kills; i++) {
        await lake.progress(4, 100);
        await lake.writers[i % 4]?.kill();
      }
      await lake.progress(4, 1);
    });
    expect(await lake.service(), lake.summary()).toBe(service);
    await lake.check();
  });
});
