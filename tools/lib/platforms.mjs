// The platform packages of the store: what each has to hold before it is published. Plain Node without dependencies.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** @typedef {import("./workspace.mjs").Manifest} Manifest */

export const addonName = "moraine-store.node";
/**
 * Node 20 itself needs this one, so an addon that needs no more is never what keeps the store from running. (The library of
 * SlateDB 0.12.1 needs 2.34.)
 */
export const oldestGlibc = "2.28";

/** ELF's numbers for the machines that packages are made for. */
const elfMachines = new Map([
  ["x64", 62],
  ["arm64", 183],
]);
const elfSharedObject = 3;

/**
 * Is this one of the packages that hold nothing but a prebuilt addon?
 * @param {Manifest} manifest
 * @returns {boolean}
 */
export function isPlatformPackage(manifest) {
  return manifest.main === addonName;
}

/**
 * What a platform package's manifest must say for package managers to install it where it works, and nowhere else.
 * @param {Manifest} manifest
 * @returns {string[]}
 */
export function platformManifestProblems({ name, license, description, files, publishConfig, os, cpu, libc }) {
  const [, system, processor, library] = /^@moraine\/store-(\w+)-(\w+)-(\w+)$/.exec(name) ?? [];
  const wanted = [system, processor, library === "gnu" ? "glibc" : library];
  const problems = [];
  if (JSON.stringify([os, cpu, libc]) !== JSON.stringify(wanted.map((value) => [value]))) {
    problems.push("os, cpu and libc must be those of the name");
  }
  if (JSON.stringify(files) !== JSON.stringify([addonName])) problems.push(`files must be ${addonName} alone`);
  if (license !== "MIT") problems.push('license must be "MIT"');
  if ((description ?? "") === "") problems.push("description is missing");
  if (publishConfig?.["access"] !== "public") problems.push('publishConfig.access must be "public"');
  return problems.map((problem) => `package.json: ${problem}`);
}

/**
 * The newest version of a library's symbols that a binary asks for, for instance `2.28`; undefined when it asks for none.
 * @param {string} text The binary, one character a byte.
 * @param {string} library `GLIBC` or `GLIBCXX`.
 * @returns {string | undefined}
 */
function newestSymbols(text, library) {
  const versions = [...text.matchAll(new RegExp(`\\0${library}_([0-9.]+)(?=\\0)`, "g"))].flatMap(
    (match) => match[1] ?? [],
  );
  return versions.sort((a, b) => a.localeCompare(b, "en", { numeric: true })).at(-1);
}

/**
 * Why a file is not an addon that may be shipped for a processor.
 * @param {Buffer} bytes
 * @param {string} cpu As package.json has it.
 * @returns {string[]}
 */
export function addonProblems(bytes, cpu) {
  if (bytes.length < 64 || bytes.readUInt32BE(0) !== 0x7f454c46 || bytes[4] !== 2 || bytes[5] !== 1) {
    return ["not a 64-bit ELF file"];
  }
  const problems = [];
  if (bytes.readUInt16LE(16) !== elfSharedObject) problems.push("not a shared object");
  const machine = bytes.readUInt16LE(18);
  if (machine !== elfMachines.get(cpu))
    problems.push(`made for another processor (ELF machine ${machine}) than ${cpu}`);
  const text = bytes.toString("latin1");
  if (!text.includes("\0napi_register_module_v1\0")) problems.push("not a Node-API addon");
  const glibc = newestSymbols(text, "GLIBC");
  if (glibc !== undefined && glibc.localeCompare(oldestGlibc, "en", { numeric: true }) > 0) {
    problems.push(`needs glibc ${glibc}, and ${oldestGlibc} has to do`);
  }
  if (/\0libstdc\+\+\.so/.test(text)) problems.push("needs libstdc++: build it with --release");
  if (text.includes("\0libasan.so")) problems.push("holds AddressSanitizer");
  return problems;
}

/**
 * Why the platform package in a folder cannot be published.
 * @param {string} folder
 * @param {Manifest} manifest
 * @returns {string[]}
 */
export function platformProblems(folder, manifest) {
  const addon = join(folder, addonName);
  const found = existsSync(addon)
    ? addonProblems(readFileSync(addon), manifest.cpu?.[0] ?? "").map((problem) => `${addonName}: ${problem}`)
    : [`no ${addonName}: the release workflow builds it`];
  return [...platformManifestProblems(manifest), ...found];
}
