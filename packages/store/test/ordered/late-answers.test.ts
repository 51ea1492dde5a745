import { expect, test } from "vitest";
import { collectRows, storeLimits } from "../../src/index.js";
import { SlateWriter } from "../../src/writer.js";
import { text, write } from "./helpers.js";
import { ScheduledPlace } from "./scheduled-place.js";

const stallMs = storeLimits.walMinAgeMs / 2 + 1;

class Clock {
  ms = 1_700_000_000_000;
}

function open(place: ScheduledPlace, clock: Clock): Promise<SlateWriter> {
  return place.runToEnd(
    SlateWriter.open(place.backend, place.loops, {
      requestTimeoutMs: storeLimits.requestTimeoutMs,
      walMinAgeMs: storeLimits.walMinAgeMs,
      flushDelayMs: 0,
      walObjectsPerCheckpoint: storeLimits.walObjectsPerCheckpoint,
      blockCache: false,
      now: () => clock.ms,
    }),
  );
}

/** What a snapshot that is cut now holds, the oldest `from` of what waits left alone. */
async function stateOf(place: ScheduledPlace, writer: SlateWriter, from = 0): Promise<string[]> {
  const snapshot = await place.runToEnd(writer.snapshot(), from);
  const rows = await collectRows(snapshot.scan({}));
  snapshot.release();
  return rows.map(({ key, value }) => `${text(key)}=${text(value)}`);
}

test("a write that its first engine never answers is not made once more after a later one was acknowledged", async () => {
  const place = new ScheduledPlace();
  const clock = new Clock();
  const writer = await open(place, clock);
  const earlier = write(writer, { a: "earlier" });
  for (const step of ["applied", "answered"]) {
    await place.settle();
    expect(place.waiting, step).toBe(1);
    place.release(0);
  }
  await place.settle();
  // Its flush is the oldest that waits, and nothing below lets it go on.
  clock.ms += stallMs;
  await place.runToEnd(write(writer, { a: "later" }), 1);
  clock.ms += stallMs;
  expect(await stateOf(place, writer, 1)).toEqual(["a=later"]);
  await place.runToEnd(earlier, 1);
  await place.runToEnd(writer.close());
});

test("nothing is acknowledged by an engine that is about to be replaced, though the clock is right again", async () => {
  const place = new ScheduledPlace();
  const clock = new Clock();
  const writer = await open(place, clock);
  const step = async (pick: number): Promise<void> => {
    place.release(pick);
    await place.settle();
  };
  const earlier = write(writer, { a: "earlier" });
  await place.settle();
  await step(0); // applied
  await step(0); // answered
  const later = write(writer, { a: "later" });
  let isAcknowledged = false;
  void later.then(() => {
    isAcknowledged = true;
  });
  await place.settle();
  await step(1);
  await step(1);
  await step(0); // The earlier one is durable,
  clock.ms += stallMs;
  await step(0); // and has its answer during a stall: a recovery begins.
  clock.ms -= stallMs;
  expect(place.waiting).toBe(2);
  await step(0); // The flush of the later one, before the old engine is fenced.
  await step(1);
  expect(isAcknowledged).toBe(false);
  await place.runToEnd(Promise.all([earlier, later]));
  expect(await stateOf(place, writer)).toEqual(["a=later"]);
  await place.runToEnd(writer.close());
});
