import { describe, expect, it } from "vitest";
import { endsStatement, isBlank } from "./split-input.js";

describe("endsStatement", () => {
  it.each([
    "SELECT 1;",
    "SELECT 1;  \n",
    "SELECT 1; -- done",
    "SELECT 1; /* done\n */ ",
    "SELECT 'it''s';",
    'SELECT 1 AS "a;b";',
    "SELECT $$ ' ; $$;",
    "SELECT $tag$ $$ ; $tag$;",
    "SELECT 5 / 2 - 1;",
    "-- a comment; with a semicolon\nSELECT 1;",
    ";",
    "",
  ])("is true of %j", (text) => {
    expect(endsStatement(text)).toBe(true);
  });

  it.each([
    "SELECT 1",
    "SELECT 1; SELECT 2",
    "SELECT ';",
    "SELECT 'it''s;",
    'SELECT 1 AS "a;',
    "SELECT $$;",
    "SELECT $tag$ $$;",
    "SELECT 1 /* ;",
    "SELECT 1 -- ;",
  ])("is false of %j", (text) => {
    expect(endsStatement(text)).toBe(false);
  });
});

describe("isBlank", () => {
  it.each(["", " \n\t", ";", " ; ;\n", "-- nothing", "/* nothing; */ ;"])("is true of %j", (text) => {
    expect(isBlank(text)).toBe(true);
  });

  it.each(["SELECT 1", "'", "-", "/* no end", "; x"])("is false of %j", (text) => {
    expect(isBlank(text)).toBe(false);
  });
});
