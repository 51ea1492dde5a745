import { readFileSync } from "node:fs";
import type * as engine from "@moraine/catalog";
import * as codec from "@moraine/codec";
import type * as extension from "@moraine/extension";
import type * as store from "@moraine/store";
import * as moraine from "moraine";
import { describe, expect, it } from "vitest";
import type * as contract from "../src/interface.js";
import { examplesOfSource } from "./support/examples.js";

/** Whether two types take each other's values and have the same properties, so that neither lacks an optional one. */
type Same<A, B> = [A, B, keyof A, keyof B] extends [B, A, keyof B, keyof A] ? true : false;

/** Compiles only if every element is `true`. */
function holds<_Checks extends readonly true[]>(): true {
  return true;
}

/** What a transaction has for the engine alone. */
type Internal = "end" | "recordDataPath" | "baseRevision" | "takeUuids" | "insertChunks";

const source = readFileSync(new URL("../src/interface.ts", import.meta.url), "utf8");

describe("the contract", () => {
  it("is what the compiler finds the implementation to be", () => {
    const factory: contract.CatalogFactory = moraine.Catalog;
    expect(factory).toBe(moraine.Catalog);
    const open: contract.OpenDuckDb = moraine.openDuckDB;
    expect(open).toBe(moraine.openDuckDB);
    const values = holds<
      [
        // A function that only reads takes both kinds of handle.
        moraine.Catalog extends moraine.ReadOnlyCatalog ? true : false,
        Same<contract.ErrorCode, codec.ErrorCode>,
        Same<keyof contract.ErrorContract, keyof codec.MoraineError>,
        Same<contract.CommitOptions, engine.CommitOptions>,
        Same<contract.CommitResult<string>, engine.CommitResult<string>>,
        Same<contract.FlushInlinedArguments, engine.FlushInlinedArguments>,
        Same<contract.FlushInlinedResult, engine.FlushInlinedResult>,
        Same<contract.MaintainOptions, engine.MaintainOptions>,
        Same<contract.MaintainReport, engine.MaintainReport>,
        Same<contract.MaintenancePass, engine.MaintenancePass>,
        Same<contract.MaintenanceStep, engine.MaintenanceStep>,
        Same<contract.LookupEvent, engine.LookupEvent>,
        Same<contract.CommitEvent, engine.CommitEvent>,
        Same<contract.RecoveryEvent, store.RecoveryEvent>,
        Same<contract.RecentRow, engine.RecentRow>,
        Same<contract.RecentRowsArguments, engine.RecentRowsArguments>,
        Same<contract.InlineScan, engine.InlineScan>,
        Same<contract.IndexTarget, engine.IndexTarget>,
        Same<contract.IndexLookupArguments, engine.IndexLookupArguments>,
        Same<contract.IndexLookupManyArguments, engine.IndexLookupManyArguments>,
        Same<contract.IndexRangeArguments, engine.IndexRangeArguments>,
        Same<contract.RangeBound, engine.RangeBound>,
        Same<contract.IndexNullsArguments, engine.IndexNullsArguments>,
        Same<contract.FileIndexEntry, engine.FileIndexEntry>,
        Same<contract.FileIndexVectors, engine.FileIndexVectors>,
        Same<contract.FileIndexRemoval, engine.FileIndexRemoval>,
        Same<contract.IndexEntry, engine.IndexEntry>,
        Same<contract.InlineChunkInput, engine.InlineChunkInput>,
        Same<contract.FlushedDataFile, engine.FlushedDataFile>,
        Same<keyof contract.OpenDuckDbOptions, keyof extension.OpenDuckDbOptions>,
        Same<keyof contract.OpenedDuckDb, keyof extension.OpenedDuckDb>,
      ]
    >();
    expect(values).toBe(true);
    // A verb takes what the contract says and gives what the contract says, and both are exactly the implementation's.
    const verbs =
      holds<
        [
          Same<VerbArguments<contract.Transaction>, VerbArguments<Omit<engine.Transaction, Internal>>>,
          Same<VerbResults<contract.Transaction>, VerbResults<Omit<engine.Transaction, Internal>>>,
          Same<VerbArguments<contract.CatalogSnapshot>, VerbArguments<Snapshot>>,
          Same<VerbResults<contract.CatalogSnapshot>, VerbResults<Snapshot>>,
          Same<
            VerbArguments<contract.ReadScope>,
            VerbArguments<Omit<engine.ReadScope, "hasIndexes" | "locateRows" | "indexRowIds">>
          >,
          Same<keyof contract.ReadScope, Exclude<keyof engine.ReadScope, "hasIndexes" | "locateRows" | "indexRowIds">>,
        ]
      >();
    expect(verbs).toBe(true);
  });

  it("names every property of the arguments of every verb", () => {
    // Names the verbs that differ when it does not compile.
    const complete = holds<[[DifferingVerb] extends [never] ? true : DifferingVerb]>();
    expect(complete).toBe(true);
  });

  it("has every class of error", () => {
    const classes = Object.keys(codec).filter((name) => name.endsWith("Error"));
    expect(classes.length).toBeGreaterThan(15);
    expect(Object.keys(moraine)).toEqual(expect.arrayContaining(classes));
    for (const name of classes.filter((className) => className !== "MoraineError")) {
      expect(source).toContain(`/** \`${name}\``);
    }
  });

  it("shows every read and verb in an example", () => {
    const shown = examplesOfSource(source).examples.map(({ name }) => name);
    const methods = ["CatalogFactory", "ReadOnlyCatalog", "Catalog", "Transaction"].flatMap(methodsOf);
    expect(methods.length).toBeGreaterThan(50);
    expect(methods.filter((method) => method !== "close" && !shown.includes(method))).toEqual([]);
  });
});

type Snapshot = Awaited<ReturnType<engine.Catalog["snapshot"]>>;
type Method = (...args: never[]) => unknown;
type Named<T> = { [Name in keyof T as Name extends string ? Name : never]: T[Name] };
type VerbArguments<T> = {
  [Name in keyof Named<T>]: Named<T>[Name] extends Method ? Parameters<Named<T>[Name]> : never;
};
type VerbResults<T> = {
  [Name in keyof Named<T>]: Named<T>[Name] extends Method ? ReturnType<Named<T>[Name]> : Named<T>[Name];
};
type Verb = Exclude<keyof Named<contract.Transaction>, keyof Named<contract.CatalogSnapshot>>;
type SameArguments<Name extends Verb> = Same<
  Parameters<contract.Transaction[Name]>[0],
  Parameters<engine.Transaction[Name]>[0]
>;

type DifferingVerb = { [Name in Verb]: SameArguments<Name> extends true ? never : Name }[Verb];

function methodsOf(name: string): string[] {
  const body = new RegExp(`^export interface ${name} [^]*?^\\}`, "mu").exec(source)?.[0] ?? "";
  return [...body.matchAll(/^ {2}(\w+)(?:<T>)?\(/gmu)].map(([, method]) => method ?? "");
}
