import { expect, test } from "vitest";
import { describePath } from "./describe-path.js";

test.each([
  ['a "quoted" path', '"a \\"quoted\\" path"'],
  ["s3://key:secret@bucket/lake", '"s3://***@bucket/lake"'],
  ["s3://bucket/a@b", '"s3://bucket/a@b"'],
])("describePath quotes %s", (path, quoted) => {
  expect(describePath(path)).toBe(quoted);
});
