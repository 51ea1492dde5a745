// Ends in the middle of its calls. Arguments: how (`exit`, `natural`, `uncaught`), after how many microseconds.
import { writeSync } from "node:fs";
import { findAddon } from "../../src/native/find-addon.js";
import { BusyStore } from "./busy-store.js";

const [how = "", after = "0"] = process.argv.slice(2);
const found = findAddon(process.env["MORAINE_NATIVE_ADDON"]);
if (found.addon === undefined) throw new Error(found.reason);

const busy = await BusyStore.open(found.addon, "memory://teardown");
let rounds = 0;
const endsAt = performance.now() + Number(after) / 1000;

process.on("exit", () => {
  writeSync(1, `ended after ${rounds} rounds, ${JSON.stringify(busy.tally)}\n`);
});

function round(): void {
  if (performance.now() < endsAt) {
    busy.start(rounds++);
    setImmediate(round);
    return;
  }
  // The calls in flight are left to themselves.
  if (how === "exit") process.exit(7);
}
busy.start(rounds++);
round();
