import { ConfigurationError } from "@moraine/codec";
import type { StoreLoops } from "./loops.js";
import { findAddon } from "./native/find-addon.js";
import { NativeLoops } from "./native/native-loops.js";
import { plainLoops } from "./plain-loops.js";

/** Which loops serve the stores of this thread, and why not the native ones where they do not. */
export interface LoopsInUse {
  readonly name: StoreLoops["name"];
  /** Why not the native ones; absent where those are in use. */
  readonly reason?: string;
}

interface Choice {
  readonly loops: StoreLoops;
  readonly inUse: LoopsInUse;
}

let choice: Choice | undefined;

/**
 * The loops for the stores of this thread: native ones where the addon is there and fits, else the plain ones, which a
 * warning says once. `MORAINE_NATIVE`: `off` never loads the addon, `on` fails with `configuration` where it cannot be used,
 * `auto` or nothing is the default. `MORAINE_NATIVE_ADDON`: the addon's file.
 */
export function chooseLoops(): StoreLoops {
  return chosen().loops;
}

/** Which loops `openStore` uses in this thread. */
export function loopsInUse(): LoopsInUse {
  return chosen().inUse;
}

function chosen(): Choice {
  if (choice === undefined) {
    const path = process.env["MORAINE_NATIVE_ADDON"];
    choice = choose(process.env["MORAINE_NATIVE"] ?? "", path === "" ? undefined : path);
  }
  return choice;
}

function choose(mode: string, path: string | undefined): Choice {
  if (mode === "off") return { loops: plainLoops, inUse: { name: "plain", reason: "MORAINE_NATIVE is off" } };
  if (mode !== "" && mode !== "auto" && mode !== "on") {
    throw new ConfigurationError("MORAINE_NATIVE is neither auto, on nor off", {
      remedy: "Leave it out to use native code where it can be used.",
    });
  }
  const found = findAddon(path);
  if (found.addon !== undefined) return { loops: new NativeLoops(found.addon), inUse: { name: "native" } };
  if (mode === "on") {
    throw new ConfigurationError(`MORAINE_NATIVE is on, and the native loops cannot be used: ${found.reason}`, {
      remedy: `${howToHaveThem(path)} Or leave MORAINE_NATIVE out.`,
    });
  }
  process.emitWarning(`moraine works without its native loops, several times slower: ${found.reason}`, {
    code: "MORAINE_PLAIN_BINDING",
    detail: `${howToHaveThem(path)} MORAINE_NATIVE=off accepts it, without this warning.`,
  });
  return { loops: plainLoops, inUse: { name: "plain", reason: found.reason } };
}

function howToHaveThem(path: string | undefined): string {
  return path === undefined
    ? "MORAINE_NATIVE_ADDON names the file of an addon, for instance the one that npm run setup makes in a checkout of moraine."
    : "MORAINE_NATIVE_ADDON has to name the file of moraine's addon for this platform.";
}
