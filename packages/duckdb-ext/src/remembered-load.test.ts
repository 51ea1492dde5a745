import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { RememberedLoad } from "./remembered-load.js";

async function* framesOf(...sizes: number[]): AsyncIterableIterator<Uint8Array> {
  for (const size of sizes) {
    await Promise.resolve();
    yield new Uint8Array(size);
  }
}

async function passed(
  load: RememberedLoad,
  revision: bigint,
  frames: AsyncIterable<Uint8Array>,
): Promise<readonly number[]> {
  const sizes: number[] = [];
  for await (const { length } of load.through(revision, frames)) sizes.push(length);
  return sizes;
}

const sizesAt = (load: RememberedLoad, revision: bigint): readonly number[] | undefined =>
  load.find(revision)?.map(({ length }) => length);

test("frames are remembered for their revision, until there is a newer one", async () => {
  const load = new RememberedLoad(100, 60_000);
  expect(await passed(load, 3n, framesOf(10, 20))).toEqual([10, 20]);
  expect(sizesAt(load, 3n)).toEqual([10, 20]);
  expect(sizesAt(load, 2n)).toBeUndefined();
  expect(sizesAt(load, 3n)).toEqual([10, 20]);
  expect(sizesAt(load, 4n)).toBeUndefined();
  expect(load.newest).toMatchObject({ revision: 3n, byteLength: 30 });
  await passed(load, 4n, framesOf(40));
  expect(sizesAt(load, 3n)).toBeUndefined();
  expect(sizesAt(load, 4n)).toEqual([40]);
});

test("an older load that ends later does not take the place of a newer one", async () => {
  const load = new RememberedLoad(100, 60_000);
  const older = load.through(3n, framesOf(10));
  await passed(load, 4n, framesOf(20));
  for await (const _ of older);
  expect(sizesAt(load, 4n)).toEqual([20]);
});

test("what is too large, or did not come to its end, is passed on and not remembered", async () => {
  const load = new RememberedLoad(25, 60_000);
  expect(await passed(load, 3n, framesOf(10, 20, 30))).toEqual([10, 20, 30]);
  expect(sizesAt(load, 3n)).toBeUndefined();
  for await (const _ of load.through(3n, framesOf(5, 5))) break;
  expect(sizesAt(load, 3n)).toBeUndefined();
});

test("it is forgotten when nobody has asked for it for a while", async () => {
  const load = new RememberedLoad(100, 60);
  await passed(load, 3n, framesOf(10));
  await wait(40);
  expect(sizesAt(load, 3n)).toEqual([10]);
  await wait(40);
  expect(sizesAt(load, 3n)).toEqual([10]);
  await wait(100);
  expect(sizesAt(load, 3n)).toBeUndefined();
});
