// The layering of the workspace, from the bottom up: which package may import which others. ARCHITECTURE.md draws it,
// tools/check-layering.mjs enforces it.

/**
 * @typedef {object} Layer
 * @property {readonly string[]} mayImport Names of workspace packages.
 * @property {readonly string[]} [onlyExternal] When given, the only packages from outside that its sources may import, and
 *   no module of Node itself: the package does no input or output.
 */

const codec = "@moraine/codec";
const runtime = "@moraine/runtime";
const store = "@moraine/store";
const indexCore = "@moraine/index-core";
const scopedReader = "@moraine/scoped-reader";
const rowSummary = "@moraine/row-summary";
const catalog = "@moraine/catalog";
const plannerRules = "@moraine/planner-rules";
const duckdbExt = "@moraine/duckdb-ext";
const platforms = ["@moraine/store-linux-arm64-gnu", "@moraine/store-linux-x64-gnu"];
const extension = "@moraine/extension";
const below = [codec, runtime, store, indexCore, scopedReader, rowSummary, catalog, plannerRules, duckdbExt];

/** @type {Readonly<Record<string, Layer>>} Keyed by folder. */
export const layers = {
  "packages/codec": { mayImport: [], onlyExternal: ["@bufbuild/protobuf"] },
  "packages/runtime": { mayImport: [codec] },
  "packages/store": { mayImport: [codec, ...platforms] },
  "packages/store/platforms/linux-arm64-gnu": { mayImport: [], onlyExternal: [] },
  "packages/store/platforms/linux-x64-gnu": { mayImport: [], onlyExternal: [] },
  "packages/index-core": { mayImport: [codec, store] },
  "packages/scoped-reader": { mayImport: [codec, store] },
  "packages/row-summary": { mayImport: [codec, store, scopedReader] },
  "packages/catalog": { mayImport: [codec, store, indexCore, scopedReader, rowSummary] },
  "packages/planner-rules": { mayImport: [codec], onlyExternal: [] },
  "packages/duckdb-ext": { mayImport: [codec, runtime, store, catalog, plannerRules] },
  "apps/extension": { mayImport: below },
  "apps/moraine": { mayImport: [...below, extension] },
  "apps/benchmarks": { mayImport: [...below, "moraine", extension] },
};
