import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { canonicalLocation, serviceName, servicePlace } from "./place.js";

interface Vector {
  readonly store: string;
  readonly cwd: string;
  readonly location: string;
  readonly name: string;
}

const golden = new URL("../../../../golden/service-names.json", import.meta.url);
const { vectors } = JSON.parse(readFileSync(golden, "utf8")) as { readonly vectors: readonly Vector[] };

describe("the place of a service", () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "moraine-place-")));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(vectors)("of $store in $cwd is $name", ({ store, cwd, location, name }) => {
    expect(canonicalLocation(store, cwd)).toBe(location);
    expect(canonicalLocation(location, "/elsewhere")).toBe(location);
    expect(serviceName(location)).toBe(name);
  });

  it("is found through links, as far as there are any", () => {
    mkdirSync(join(folder, "real/inner"), { recursive: true });
    symlinkSync(join(folder, "real/inner"), join(folder, "link"));
    expect(canonicalLocation("link/lake/store", folder)).toBe(join(folder, "real/inner/lake/store"));
    expect(canonicalLocation("link/../lake", folder)).toBe(join(folder, "real/lake"));
    expect(canonicalLocation(`file://${folder}/link/lake`, "/elsewhere")).toBe(join(folder, "real/inner/lake"));
  });

  it("is in the runtime folder, by names of one stem", () => {
    process.env["MORAINE_RUNTIME_DIR"] = join(folder, "run");
    const stem = join(folder, "run", serviceName("/moraine-vectors/lake"));
    expect(servicePlace("/moraine-vectors/lake")).toEqual({
      location: "/moraine-vectors/lake",
      socket: `${stem}.sock`,
      lock: `${stem}.lock`,
      log: `${stem}.log`,
    });
  });
});
