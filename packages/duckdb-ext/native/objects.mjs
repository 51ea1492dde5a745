// Compiles sources into objects that are kept by what they were made of.
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { runCompiler } from "../../store/native/compiler.mjs";

/** @typedef {import("../../store/native/compiler.mjs").Compiler} Compiler */

/** Files compiled at the same time: each takes up to a gigabyte of memory. */
const maxCompilers = 2;
/** Objects that are kept: of a few branches and kinds of build. */
const maxCachedObjects = 200;

/** @param {string} text */
export const sha256 = (text) => createHash("sha256").update(text).digest("hex");

/**
 * A source and the headers beside it that it includes, each once.
 * @param {string} path
 * @param {Set<string>} seen
 */
function withHeaders(path, seen = new Set()) {
  if (seen.has(path) || !existsSync(path)) return seen;
  seen.add(path);
  for (const [, name = ""] of readFileSync(path, "utf8").matchAll(/^#include "([^"]+)"/gm)) {
    withHeaders(join(dirname(path), name), seen);
  }
  return seen;
}

/**
 * What decides about an object: its source with its headers, and how it is compiled.
 * @param {string} source
 * @param {string} recipe
 */
export function digestOf(source, recipe) {
  const contents = [...withHeaders(source)].sort().map((path) => [basename(path), readFileSync(path, "utf8")]);
  return sha256(JSON.stringify([basename(source), recipe, contents]));
}

/**
 * Compiles a header for all sources, which takes as long as three of them and makes each three times as fast. Of one make
 * only: it is a few hundred megabytes.
 * @param {object} request
 * @param {Compiler} request.compiler
 * @param {readonly string[]} request.flags
 * @param {string} request.recipe
 * @param {string} request.header
 * @param {string} request.cache
 * @returns {Promise<string[]>} The arguments that use it; none where the compiler cannot make it.
 */
export async function precompile({ compiler, flags, recipe, header, cache }) {
  const folder = join(cache, digestOf(header, recipe));
  const copy = join(folder, basename(header));
  const args = ["-include", copy];
  if (existsSync(`${copy}.gch`)) return args;
  rmSync(cache, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  copyFileSync(header, copy);
  const partial = `${copy}.${process.pid}`;
  const { ok } = await runCompiler(compiler, [...flags, "-x", "c++-header", copy, "-o", partial]);
  if (!ok) return [];
  renameSync(partial, `${copy}.gch`);
  return args;
}

/** @param {string} cache */
function prune(cache) {
  const objects = readdirSync(cache)
    .map((name) => ({
      path: join(cache, name),
      time: statSync(join(cache, name), { throwIfNoEntry: false })?.mtimeMs ?? 0,
    }))
    .sort((a, b) => b.time - a.time);
  for (const { path } of objects.slice(maxCachedObjects)) rmSync(path, { force: true });
}

/**
 * Compiles what is not there yet, a few at a time.
 * @param {object} request
 * @param {Compiler} request.compiler
 * @param {readonly string[]} request.flags
 * @param {string} request.recipe Text that changes with the compiler, the flags and the headers of DuckDB.
 * @param {readonly string[]} request.sources
 * @param {string} request.cache Folder of the objects.
 * @returns {Promise<{ objects: string[], compiled: number, failed: string[] }>}
 */
export async function compileObjects({ compiler, flags, recipe, sources, cache }) {
  mkdirSync(cache, { recursive: true });
  const objects = sources.map((source) => ({ source, object: join(cache, `${digestOf(source, recipe)}.o`) }));
  const waiting = objects.filter(({ object }) => !existsSync(object));
  const compiled = waiting.length;
  /** @type {string[]} */
  const failed = [];
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const partial = `${next.object}.${process.pid}`;
      const { ok, output } = await runCompiler(compiler, [...flags, "-c", next.source, "-o", partial]);
      // Warnings too: they are shown once, when the file is compiled.
      if (output !== "") process.stderr.write(output);
      if (ok) renameSync(partial, next.object);
      else failed.push(basename(next.source));
    }
  };
  await Promise.all(Array.from({ length: maxCompilers }, work));
  const now = new Date();
  if (failed.length === 0) for (const { object } of objects) utimesSync(object, now, now);
  prune(cache);
  return { objects: objects.map(({ object }) => object), compiled, failed };
}
