// What a client that announces long frames can make a service do: little before its hello, and hold no more than what it has sent.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  encodeFrame,
  FrameSplitter,
  maxFrameBytes,
  protocolMagic,
  protocolVersion,
  ServiceClient,
} from "../src/index.js";
import { LakeServer } from "./support/lake-server.js";

let folder: string;
let socket: string;
let service: LakeServer;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "moraine-frames-"));
  process.env["MORAINE_RUNTIME_DIR"] = join(folder, "run");
  socket = join(folder, "socket");
  service = await LakeServer.listen(socket, join(folder, "store"));
});
afterEach(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

const mostHelloBytes = 4_096;
const mebibyte = 2 ** 20;

function length(bytes: number): Uint8Array {
  const field = new Uint8Array(4);
  new DataView(field.buffer).setUint32(0, bytes, true);
  return field;
}

/** A hello with a frame of so many bytes. */
function hello(bytes: number): Uint8Array {
  const fields = { magic: protocolMagic, version: protocolVersion, client: "test", pid: 1n } as const;
  const without = encodeFrame({ type: "hello", ...fields, program: "" }).length - 4;
  return encodeFrame({ type: "hello", ...fields, program: "x".repeat(bytes - without) });
}

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Bytes in use by this process, buffers included. */
function usedBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describe("before the hello", () => {
  test("a frame longer than one is refused as soon as its length has come", async () => {
    for (const bytes of [mostHelloBytes + 1, maxFrameBytes, 2 ** 32 - 1]) {
      const raw = await ServiceClient.connectRaw(socket);
      // Nothing of the frame itself is ever sent.
      raw.send(length(bytes));
      expect(await raw.receive()).toMatchObject({
        type: "failed",
        code: "protocol",
        message: expect.stringContaining(`a frame of ${bytes} bytes, which is not 1 to ${mostHelloBytes}`) as unknown,
      });
      await expect(raw.receive()).rejects.toThrow("closed the connection");
    }
  });

  test("a hello of up to that length is welcome, and longer frames are behind it, in the same piece as well", async () => {
    const raw = await ServiceClient.connectRaw(socket);
    const long = encodeFrame({
      type: "drop_index",
      attachment: 9n,
      schema: "x".repeat(10_000),
      name: "x",
      ifExists: true,
    });
    raw.send(Buffer.concat([hello(mostHelloBytes), long]));
    expect(await raw.receive()).toMatchObject({ type: "welcome" });
    expect(await raw.receive()).toMatchObject({ type: "failed", code: "not_found" });
    raw.close();
    const longer = await ServiceClient.connectRaw(socket);
    longer.send(hello(mostHelloBytes + 1));
    expect(await longer.receive()).toMatchObject({ type: "failed", code: "protocol" });
  });
});

describe("after the hello", () => {
  test("a frame that was only announced takes no memory", async () => {
    const clients = await Promise.all(Array.from({ length: 4 }, () => ServiceClient.connect(socket, "test")));
    const before = usedBytes();
    for (const client of clients) {
      client.send(length(maxFrameBytes));
      client.send(new Uint8Array(1_000));
    }
    // Answered behind what was sent before, as the service reads in turn.
    await (await ServiceClient.connect(socket, "test")).request({ type: "status" });
    expect(usedBytes() - before).toBeLessThan(16 * mebibyte);
    for (const client of clients) client.close();
  });

  test("one that comes in small pieces takes little more than its bytes", () => {
    const splitter = new FrameSplitter();
    const bytes = 300_000;
    const before = usedBytes();
    splitter.push(length(bytes));
    for (let at = 0; at < bytes - 1; at++) {
      splitter.push(Uint8Array.of(at % 251));
      if (splitter.next() !== undefined) expect.unreachable("a frame that is not complete");
    }
    expect(usedBytes() - before).toBeLessThan(4 * mebibyte);
    splitter.push(Uint8Array.of((bytes - 1) % 251));
    const frame = splitter.next();
    expect(frame?.length).toBe(bytes);
    expect(frame?.every((byte, at) => byte === at % 251)).toBe(true);
  });

  test("frames are whole, whatever the pieces that they come in", () => {
    const splitter = new FrameSplitter();
    const sizes = [70_000, 1, 4_096, 12, 9_000];
    const frames = sizes.map((size, at) => new Uint8Array(size).map((_, byte) => (byte * 7 + at) % 256));
    const stream = Buffer.concat(frames.flatMap((frame) => [length(frame.length), frame]));
    const cuts = [1, 5_000, 3, 4_095, 4_096, 4_097, 17, 2_000, 2_000, 2_000];
    const found: Uint8Array[] = [];
    for (let at = 0, turn = 0; at < stream.length; turn++) {
      const cut = cuts[turn % cuts.length]!;
      splitter.push(Uint8Array.from(stream.subarray(at, at + cut)));
      at += cut;
      for (let frame = splitter.next(); frame !== undefined; frame = splitter.next()) found.push(frame);
    }
    // Compared at the end: what was given out does not change when more comes.
    expect(found.map((frame) => Buffer.from(frame))).toEqual(frames.map((frame) => Buffer.from(frame)));
  });
});
