import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigurationError } from "@moraine/codec";
import { afterAll, describe, expect, it } from "vitest";
import { containsStore, parseLocation, recordedDataPath } from "./location.js";

describe("a location", () => {
  it.each([
    ["lake", `${process.cwd()}/lake`],
    ["./a/../lake/", `${process.cwd()}/lake`],
    ["/lake//data/", "/lake/data"],
    ["file:///lake/data", "/lake/data"],
    ["FILE:///lake/data/", "/lake/data"],
    ["file://localhost/lake", "/lake"],
    ["file:/lake", "/lake"],
    ["file:///a%20b", "/a%20b"],
    ["s3://bucket", "s3://bucket"],
    ["S3://bucket//a/b/", "s3://bucket/a/b"],
    ["memory://lake/", "memory://lake"],
  ])("%s is %s", (text, url) => {
    expect(parseLocation(text).url).toBe(url);
  });
});

describe("a data path", () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "moraine-location-")));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("is recorded absolute, with a slash at its end", () => {
    expect(recordedDataPath("data", "/elsewhere")).toBe(`${process.cwd()}/data/`);
    expect(recordedDataPath("s3://bucket/lake/data", "s3://bucket/lake/store")).toBe("s3://bucket/lake/data/");
    expect(recordedDataPath("file:///lake/data/", "/lake/store")).toBe("/lake/data/");
  });

  it.each([
    ["/lake", "/lake"],
    ["/lake/data", "/lake"],
    ["/lake", "/lake/store"],
    ["file:///lake/", "/lake/store"],
    ["/", "/lake/store"],
    ["s3://bucket", "s3://bucket/store"],
    ["s3://bucket/lake/data", "s3://bucket/lake"],
    ["memory://lake/data", "memory://lake"],
  ])("%s overlaps the store %s", (dataPath, store) => {
    expect(() => recordedDataPath(dataPath, store)).toThrow(ConfigurationError);
  });

  it.each([
    ["/lake/data", "/lake/store"],
    ["/lake-2", "/lake"],
    ["/lake", "/lake-2"],
    ["s3://bucket/lake-2", "s3://bucket/lake"],
    ["s3://other/lake", "s3://bucket/lake"],
    ["s3://lake/data", "/lake"],
    ["memory://data", "memory://lake"],
  ])("%s stands beside the store %s", (dataPath, store) => {
    expect(recordedDataPath(dataPath, store)).toMatch(/\/$/u);
  });

  it.each([
    ["/lake", "/lake/store"],
    ["/", "/lake/store"],
    ["file:///lake/", "/lake/a/store"],
    ["s3://bucket", "s3://bucket/store"],
  ])("%s may contain the store %s where that is allowed", (dataPath, store) => {
    expect(containsStore(dataPath, store)).toBe(true);
    expect(recordedDataPath(dataPath, store, { mayContainStore: true })).toBe(
      `${parseLocation(dataPath).url.replace(/\/$/u, "")}/`,
    );
  });

  it.each([
    ["/lake", "/lake"],
    ["/lake/data", "/lake"],
    ["s3://bucket/lake/data", "s3://bucket/lake"],
  ])("%s is never allowed with the store %s", (dataPath, store) => {
    expect(containsStore(dataPath, store)).toBe(false);
    expect(() => recordedDataPath(dataPath, store, { mayContainStore: true })).toThrow(ConfigurationError);
  });

  it("overlaps by what links lead to, also where folders do not exist yet", () => {
    mkdirSync(join(folder, "real"));
    symlinkSync(join(folder, "real"), join(folder, "link"));
    const store = join(folder, "real/store");
    expect(() => recordedDataPath(join(folder, "link/store/data"), store)).toThrow(ConfigurationError);
    expect(recordedDataPath(join(folder, "link/data"), store)).toBe(join(folder, "link/data/"));
  });
});
