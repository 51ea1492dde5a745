import { readFileSync } from "node:fs";

/** What is used of the package's own package.json. */
interface Manifest {
  readonly version: string;
}

export function readManifest(): Manifest {
  return JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as Manifest;
}
