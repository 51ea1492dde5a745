import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { parseLocation } from "./location.js";

describe("parseLocation", () => {
  test.each([
    ["memory://lake", { kind: "memory", url: "memory://lake", name: "lake" }],
    ["MEMORY://lake/", { kind: "memory", url: "memory://lake", name: "lake" }],
    ["/a/b/../c/", { kind: "file", url: "file:///a/c", directory: "/a/c" }],
    ["file:///a/b%20c", { kind: "file", url: "file:///a/b%20c", directory: "/a/b%20c" }],
    ["file://localhost/a", { kind: "file", url: "file:///a", directory: "/a" }],
    ["lake", { kind: "file", url: `file://${resolve("lake")}`, directory: resolve("lake") }],
    ["s3://bucket", { kind: "s3", url: "s3://bucket", bucket: "bucket", prefix: "" }],
    ["s3://bucket/", { kind: "s3", url: "s3://bucket", bucket: "bucket", prefix: "" }],
    ["s3://my.bucket/a/b=1/", { kind: "s3", url: "s3://my.bucket/a/b=1", bucket: "my.bucket", prefix: "a/b=1" }],
  ])("%s", (url, expected) => {
    const location = parseLocation(url);
    expect(location).toEqual(expected);
    expect(parseLocation(location.url)).toEqual(expected);
  });

  test.each([
    "",
    "a\0b",
    "memory://",
    "file://a",
    "gs://bucket/a",
    "s3://",
    "s3://ab",
    "s3://UPPER/a",
    "s3://bucket/a//b",
    "s3://bucket/a/./b",
    "s3://bucket/a/../b",
    "s3://bucket/a b",
    "s3://bucket/a%20b",
    "s3://bucket/ä",
    "s3://bucket/a?b",
  ])("%j is refused", (url) => {
    expect(() => parseLocation(url)).toThrow(expect.objectContaining({ code: "configuration" }));
  });
});
