import { Writable } from "node:stream";
import { describe, expect, it, vi } from "vitest";
import { Elapsed } from "./elapsed.js";
import { bytesText, countText, durationText, jsonText, tableText, timeText } from "./output.js";
import { Progress } from "./progress.js";

describe("a table", () => {
  it("pads columns, numbers to the left, and nothing behind the last one", () => {
    const text = tableText(
      [
        { title: "name", text: (row: readonly [string, number]) => row[0] },
        { title: "n", text: (row) => row[1].toString(), right: true },
        { title: "last", text: (row) => row[0] },
      ],
      [
        ["a", 1],
        ["longer", 1000],
      ],
    );
    expect(text).toBe("name       n  last\na          1  a\nlonger  1000  longer");
  });

  it("lets no name move the terminal's cursor", () => {
    const text = tableText([{ title: "name", text: (row: string) => row }], ["a\u001b[2Jb\nc\u009b"]);
    expect(text).toBe("name\na\\u001b[2Jb\\u000ac\\u009b");
  });
});

describe("texts", () => {
  it("of JSON hold 64-bit integers as digits and leave out what is absent", () => {
    expect(JSON.parse(jsonText({ id: 2n ** 63n, rows: [1n], none: undefined, count: 3 }))).toEqual({
      id: "9223372036854775808",
      rows: ["1"],
      count: 3,
    });
  });

  it("of numbers are for people", () => {
    expect([0, 999, 1000, 1_234_567, 12n ** 9n].map(countText)).toEqual([
      "0",
      "999",
      "1,000",
      "1,234,567",
      "5,159,780,352",
    ]);
    expect([0, 1023, 1024, 1536, 1024 ** 5 * 2].map(bytesText)).toEqual([
      "0 B",
      "1023 B",
      "1.0 KiB",
      "1.5 KiB",
      "2048.0 TiB",
    ]);
    expect([0.0123, 0.9, 1, 999.96, 1000, 61_234].map(durationText)).toEqual([
      "12 us",
      "900 us",
      "1.0 ms",
      "1000.0 ms",
      "1.00 s",
      "61.23 s",
    ]);
  });

  it("of times keep all six digits, before 1970 too", () => {
    expect(timeText(0n)).toBe("1970-01-01T00:00:00.000000Z");
    expect(timeText(1_700_000_000_123_456n)).toBe("2023-11-14T22:13:20.123456Z");
    expect(timeText(-1n)).toBe("1969-12-31T23:59:59.999999Z");
    expect(timeText(2n ** 63n)).toBe("9223372036854775808 us");
  });
});

describe("progress", () => {
  class Terminal extends Writable {
    text = "";
    readonly isTTY: boolean;

    constructor(isTTY: boolean) {
      super();
      this.isTTY = isTTY;
    }

    override _write(chunk: Buffer, _encoding: string, done: () => void): void {
      this.text += chunk.toString("utf8");
      done();
    }
  }

  it.each([
    [true, "\r\u001b[Kcounted 1\r\u001b[K"],
    [false, ""],
  ])("is one line that goes away again, where there is a terminal: %s", (isTTY, expected) => {
    const stderr = new Terminal(isTTY);
    const progress = new Progress({ stdout: stderr, stderr });
    progress.show("counted 1");
    progress.show("counted 2");
    progress.end();
    progress.end();
    expect(stderr.text).toBe(expected);
  });

  it.each([
    [true, "\r\u001b[Kreading ...\r\u001b[K\r\u001b[Kwriting ...\r\u001b[K"],
    [false, ""],
  ])("of a step that cannot tell how far it is shows what goes on: %s", (isTTY, expected) => {
    const stderr = new Terminal(isTTY);
    const elapsed = new Elapsed({ stdout: stderr, stderr });
    elapsed.begin("reading");
    elapsed.begin("writing");
    elapsed.end();
    elapsed.end();
    expect(stderr.text).toBe(expected);
  });

  it("of such a step counts its seconds", () => {
    vi.useFakeTimers();
    try {
      const stderr = new Terminal(true);
      using elapsed = new Elapsed({ stdout: stderr, stderr });
      elapsed.begin("reading");
      vi.advanceTimersByTime(2000);
      expect(stderr.text).toBe(
        ["reading ...", "reading ... 1 s", "reading ... 2 s"].map((text) => `\r\u001b[K${text}`).join(""),
      );
    } finally {
      vi.useRealTimers();
    }
  });
});
