import { expect, test } from "vitest";
import { collectRows, storeLimits } from "../../src/index.js";
import { SlateWriter } from "../../src/writer.js";
import { text, write } from "./helpers.js";
import { ScheduledPlace } from "./scheduled-place.js";

const stallMs = storeLimits.walMinAgeMs / 2 + 1;

test("a write that its first engine never answers is not made once more after a later one was acknowledged", async () => {
  const place = new ScheduledPlace();
  let nowMs = 1_700_000_000_000;
  const writer = await place.runToEnd(
    SlateWriter.open(place.backend, place.loops, {
      requestTimeoutMs: storeLimits.requestTimeoutMs,
      walMinAgeMs: storeLimits.walMinAgeMs,
      flushDelayMs: 0,
      walObjectsPerCheckpoint: storeLimits.walObjectsPerCheckpoint,
      blockCache: false,
      now: () => nowMs,
    }),
  );
  const earlier = write(writer, { a: "earlier" });
  for (const step of ["applied", "answered"]) {
    await place.settle();
    expect(place.waiting, step).toBe(1);
    place.release(0);
  }
  await place.settle();
  // Its flush is the oldest that waits, and nothing below lets it go on.
  nowMs += stallMs;
  await place.runToEnd(write(writer, { a: "later" }), 1);
  nowMs += stallMs;
  const snapshot = await place.runToEnd(writer.snapshot(), 1);
  const rows = await collectRows(snapshot.scan({}));
  expect(rows.map(({ value }) => text(value))).toEqual(["later"]);
  await place.runToEnd(earlier, 1);
  snapshot.release();
  await place.runToEnd(writer.close());
});
