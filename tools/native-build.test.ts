// The script that builds the native part of the store, run on a copy in a folder of its own, with compilers that are shell
// scripts: what it does must not depend on which compilers this machine has.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runCommand } from "./lib/run-command.mjs";
import { temporaryWorkspace, writeFiles } from "./lib/temporary-workspace.js";
import { workspaceRoot } from "./lib/workspace.mjs";

const nativeFolder = "packages/store/native";
const scripts = readdirSync(join(workspaceRoot, nativeFolder)).filter((name) => name.endsWith(".mjs"));

/** Writes the text of its sources into its output, and a line into `log` for each call. Refuses sources that hold BROKEN. */
const workingCompiler = `#!/bin/sh
echo "$0 $*" >> "$(dirname "$0")/log"
case "$*" in *--version*) echo "fake 1.0"; exit 0;; esac
sources=""
while [ $# -gt 0 ]; do
  case "$1" in
    -o) output="$2"; shift;;
    *.cc|*.o) sources="$sources $1";;
  esac
  shift
done
if grep -q BROKEN $sources; then echo "error: BROKEN does not name a type" >&2; exit 1; fi
cat $sources > "$output"
`;
/** Is there, says its version, and cannot compile. */
const brokenCompiler = `#!/bin/sh
case "$1" in --version) echo "broken 1.0"; exit 0;; esac
echo "fatal error: thread: No such file or directory" >&2; exit 1
`;
/** Succeeds at everything and makes nothing. */
const idleCompiler = "#!/bin/sh\nexit 0\n";

/** The commands that the fake compilers themselves need. */
const commands = ["sh", "cat", "grep", "dirname"];

class Checkout {
  readonly root = temporaryWorkspace({
    [`${nativeFolder}/src/addon.cc`]: "first",
    [`${nativeFolder}/src/loops.cc`]: "second",
    [`${nativeFolder}/src/loops.h`]: "declared",
    "packages/store/node_modules/node-api-headers/package.json": { name: "node-api-headers", version: "1.0.0" },
    "bin/log": "",
  });
  readonly addon = join(this.root, nativeFolder, "build/moraine-store.node");

  constructor(compilers: Readonly<Record<string, string>>) {
    for (const name of scripts) {
      copyFileSync(join(workspaceRoot, nativeFolder, name), join(this.root, nativeFolder, name));
    }
    for (const command of commands) {
      const found = ["/bin", "/usr/bin"].map((folder) => join(folder, command)).find((path) => existsSync(path));
      symlinkSync(found ?? command, join(this.root, "bin", command));
    }
    this.setCompilers(compilers);
  }

  setCompilers(compilers: Readonly<Record<string, string>>): void {
    for (const name of ["g++", "clang++", "c++"]) rmSync(join(this.root, "bin", name), { force: true });
    for (const [name, text] of Object.entries(compilers)) {
      writeFileSync(join(this.root, "bin", name), text);
      chmodSync(join(this.root, "bin", name), 0o755);
    }
  }

  build(
    args: readonly string[] = [],
    env: Readonly<Record<string, string>> = {},
  ): { code: number | null; output: string } {
    const script = join(this.root, nativeFolder, "build.mjs");
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
      encoding: "utf8",
      env: { PATH: join(this.root, "bin"), ...env },
    });
    return { code: status, output: stdout + stderr };
  }

  /** What the addon that is in place was made of, or undefined. */
  built(): string | undefined {
    return existsSync(this.addon) ? readFileSync(this.addon, "utf8") : undefined;
  }

  /** How often a working compiler was asked to compile or link since the last time. */
  compilations(): number {
    const log = join(this.root, "bin/log");
    const lines = readFileSync(log, "utf8")
      .split("\n")
      .filter((line) => line.includes(" -o "));
    writeFileSync(log, "");
    return lines.length;
  }

  change(file: string, text: string): void {
    writeFiles(this.root, { [`${nativeFolder}/src/${file}`]: text });
  }
}

describe("which compiler", () => {
  test("none: said in one line, and no failure", () => {
    const checkout = new Checkout({});
    expect(checkout.build()).toEqual({
      code: 0,
      output: "native loops: no C++ compiler (tried g++, clang++, c++); the store works with the plain binding\n",
    });
    expect(checkout.built()).toBeUndefined();
  });

  test("the first that works, not the first that is there", () => {
    const checkout = new Checkout({ "g++": brokenCompiler, "clang++": idleCompiler, "c++": workingCompiler });
    const { code, output } = checkout.build();
    expect(code).toBe(0);
    expect(output).toMatch(/^native loops: built with c\+\+ in [0-9.]+ s \(fake 1\.0\)\n$/);
    expect(checkout.built()).toBe("firstsecond");
  });

  test("one that cannot compile is as good as none, and it is said why", () => {
    const checkout = new Checkout({ "g++": brokenCompiler, "clang++": idleCompiler });
    const { code, output } = checkout.build();
    expect(code).toBe(0);
    expect(output).toBe(
      "native loops: no C++ compiler (tried g++: fatal error: thread: No such file or directory, clang++: makes nothing, c++); the store works with the plain binding\n",
    );
  });

  test("CXX comes first, with its arguments", () => {
    const checkout = new Checkout({ "g++": brokenCompiler, "my-c++": workingCompiler });
    expect(checkout.build([], { CXX: "my-c++ -m64" }).output).toContain("built with my-c++ -m64");
    expect(readFileSync(join(checkout.root, "bin/log"), "utf8")).toContain("my-c++ -m64 --version");
  });

  test("a release must have one", () => {
    const { code, output } = new Checkout({}).build(["--release"]);
    expect(code).toBe(1);
    expect(output).toContain("a release needs the addon");
  });
});

describe("what is built", () => {
  test("nothing when nothing changed, and an addon of other sources never stays", () => {
    const checkout = new Checkout({ "g++": workingCompiler });
    checkout.build();
    // One for the probe, one for each of two sources, one to link them.
    expect(checkout.compilations()).toBe(4);
    const { ino } = statSync(checkout.addon);
    expect(checkout.build()).toEqual({ code: 0, output: "" });
    expect(checkout.compilations()).toBe(0);
    expect(statSync(checkout.addon).ino).toBe(ino);

    checkout.change("loops.cc", "changed");
    checkout.build();
    expect(checkout.built()).toBe("firstchanged");
    // Other processes keep the old file: it was replaced, not rewritten.
    expect(statSync(checkout.addon).ino).not.toBe(ino);
    checkout.compilations();
    checkout.change("loops.cc", "second");
    expect(checkout.build().output).toContain("as built before");
    expect(checkout.built()).toBe("firstsecond");
    expect(checkout.compilations()).toBe(0);
  });

  test.each([
    ["a header", (checkout: Checkout) => checkout.change("loops.h", "declared otherwise")],
    [
      "the version of the Node-API headers",
      ({ root }: Checkout) =>
        writeFiles(root, {
          "packages/store/node_modules/node-api-headers/package.json": { name: "node-api-headers", version: "1.0.1" },
        }),
    ],
    [
      "the compiler's version",
      (checkout: Checkout) => checkout.setCompilers({ "g++": workingCompiler.replace("fake 1.0", "fake 1.1") }),
    ],
    ["a lost stamp", ({ addon }: Checkout) => rmSync(addon.replace(".node", ".digest"))],
  ])("%s counts", (what, change) => {
    const checkout = new Checkout({ "g++": workingCompiler });
    checkout.build();
    checkout.compilations();
    change(checkout);
    expect(checkout.build().code).toBe(0);
    expect(checkout.compilations()).toBe(what === "a lost stamp" ? 0 : 4);
    expect(checkout.build()).toEqual({ code: 0, output: "" });
  });

  test("sources that a working compiler refuses are a failure, and leave no older addon", () => {
    const checkout = new Checkout({ "g++": workingCompiler });
    checkout.build();
    checkout.change("loops.cc", "BROKEN");
    const { code, output } = checkout.build();
    expect(code).toBe(1);
    expect(output).toContain("error: BROKEN does not name a type");
    expect(output).toContain("native loops: loops.cc: does not compile with g++");
    expect(checkout.built()).toBeUndefined();
  });

  test("when the compiler has gone, an addon of these sources stays and one of others goes", () => {
    const checkout = new Checkout({ "g++": workingCompiler });
    checkout.build();
    checkout.setCompilers({});
    expect(checkout.build().output).toContain("the addon that was built before stays");
    expect(checkout.built()).toBe("firstsecond");
    checkout.change("addon.cc", "other");
    expect(checkout.build().output).toContain("the store works with the plain binding");
    expect(readdirSync(join(checkout.root, nativeFolder, "build"))).toEqual([]);
  });

  test("without the headers there is no addon", () => {
    const checkout = new Checkout({ "g++": workingCompiler });
    checkout.build();
    rmSync(join(checkout.root, "packages/store/node_modules"), { recursive: true });
    expect(checkout.build()).toEqual({
      code: 0,
      output: "native loops: node-api-headers is not installed; the store works with the plain binding\n",
    });
    expect(checkout.built()).toBeUndefined();
  });

  test("builds with sanitizers, for a release and elsewhere leave the usual one alone", () => {
    const checkout = new Checkout({ "g++": workingCompiler });
    checkout.build();
    expect(checkout.build(["--sanitize"]).code).toBe(0);
    const elsewhere = join(checkout.root, "elsewhere/addon.node");
    expect(checkout.build(["--release", "--out", elsewhere]).code).toBe(0);
    expect(readFileSync(elsewhere, "utf8")).toBe("firstsecond");
    expect(readdirSync(join(checkout.root, "elsewhere"))).toEqual(["addon.node"]);
    expect(existsSync(join(checkout.root, nativeFolder, "build/sanitized/moraine-store.node"))).toBe(true);
    expect(readFileSync(join(checkout.root, "bin/log"), "utf8")).toContain("-fsanitize=address,undefined");
    expect(checkout.build()).toEqual({ code: 0, output: "" });
  });

  test("a bounded number of builds is kept", () => {
    const checkout = new Checkout({ "g++": workingCompiler });
    for (let build = 0; build < 10; build += 1) {
      mkdirSync(join(checkout.root, ".cache/native", `old-${build}`), { recursive: true });
    }
    checkout.build();
    expect(readdirSync(join(checkout.root, ".cache/native"))).toHaveLength(8);
  });
});

test("an option that does not exist", () => {
  const { code, output } = new Checkout({}).build(["--quick"]);
  expect(code).toBe(1);
  expect(output).toContain("usage: ");
});

test("two builds at once leave one whole addon", async () => {
  const checkout = new Checkout({ "g++": workingCompiler });
  const script = join(checkout.root, nativeFolder, "build.mjs");
  const runs = await Promise.all(
    [1, 2, 3].map(() =>
      runCommand(process.execPath, [script], {
        root: checkout.root,
        capture: true,
        env: { PATH: join(checkout.root, "bin"), CXX: undefined, CI: undefined },
      }),
    ),
  );
  expect(runs.map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(checkout.built()).toBe("firstsecond");
  expect(checkout.build()).toEqual({ code: 0, output: "" });
});
