import { resolve } from "node:path";
import { ConfigurationError, InvalidArgumentError, UnsupportedError } from "@moraine/codec";
import { describe, expect, test } from "vitest";
import { isAbsoluteDataPath, parseDataLocation } from "./location.js";

describe("parseDataLocation", () => {
  test.each([
    ["/data/lake", { kind: "file", root: "/data/lake" }],
    ["/data/lake/", { kind: "file", root: "/data/lake" }],
    ["lake", { kind: "file", root: resolve("lake") }],
    ["file:///data/my%20lake", { kind: "file", root: "/data/my%20lake" }],
    ["FILE://localhost/data", { kind: "file", root: "/data" }],
    ["file:/data/x y", { kind: "file", root: "/data/x y" }],
    ["s3://lake", { kind: "s3", bucket: "lake", prefix: "" }],
    ["S3://lake/a/b%20c/", { kind: "s3", bucket: "lake", prefix: "a/b%20c" }],
    ["memory://x", { kind: "memory", name: "x", prefix: "" }],
    ["memory://x/y/z", { kind: "memory", name: "x", prefix: "y/z" }],
  ])("%s", (url, location) => {
    expect(parseDataLocation(url)).toEqual(location);
  });

  test.each([
    ["", InvalidArgumentError],
    ["a\0b", InvalidArgumentError],
    ["s3://lake/a//b", InvalidArgumentError],
    ["s3://lake/../b", InvalidArgumentError],
    ["s3://", ConfigurationError],
    ["s3://ab", ConfigurationError],
    ["s3:///key", ConfigurationError],
    ["memory://", ConfigurationError],
    ["file://host/share", ConfigurationError],
    ["https://example.com/lake", UnsupportedError],
    ["gs://bucket/lake", UnsupportedError],
  ])("refuses %j", (url, kind) => {
    expect(() => parseDataLocation(url)).toThrow(kind);
  });

  test("refuses what is no string", () => {
    expect(() => parseDataLocation(undefined as unknown as string)).toThrow(InvalidArgumentError);
  });
});

test("isAbsoluteDataPath", () => {
  for (const path of ["/a", "file:///a", "file:/a", "s3://b/k", "S3://b/k", "gs://b/k"]) {
    expect(isAbsoluteDataPath(path)).toBe(true);
  }
  for (const path of ["a", "main/x.parquet", "s3:/b", "file:a", "x=s3://b"])
    expect(isAbsoluteDataPath(path)).toBe(false);
});
