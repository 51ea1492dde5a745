import { expect, test } from "vitest";
import { s3OptionsOf } from "./s3-secret.js";

test("a secret of DuckDB becomes the settings of a store", () => {
  const secret = {
    key_id: "id",
    secret: "word",
    region: "eu",
    endpoint: "host:9000",
    url_style: "path",
    use_ssl: "false",
  };
  expect(s3OptionsOf(new Map(Object.entries(secret)))).toEqual({
    endpoint: "http://host:9000",
    region: "eu",
    forcePathStyle: true,
    credentials: { accessKeyId: "id", secretAccessKey: "word" },
  });
  expect(s3OptionsOf(new Map([["endpoint", "host"]]))).toEqual({ endpoint: "https://host" });
});

test("without one the environment decides; half of one is refused", () => {
  expect(s3OptionsOf(new Map())).toBeUndefined();
  expect(s3OptionsOf(new Map([["key_id", ""]]))).toBeUndefined();
  expect(() => s3OptionsOf(new Map([["key_id", "id"]]))).toThrow("key_id and not the other");
  expect(() => s3OptionsOf(new Map([["url_style", "x"]]))).toThrow("url_style");
});
