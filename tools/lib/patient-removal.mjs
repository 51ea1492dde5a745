// Loaded with `--import` into a program that removes folders in which other processes may still be writing: its rmSync is repeated
// until they have ended.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const mostAttempts = 100;
const pauseMs = 100;
const removeOnce = fs.rmSync;
const clock = new Int32Array(new SharedArrayBuffer(4));

/** @type {typeof fs.rmSync} */
fs.rmSync = (path, options) => {
  for (let attempt = 1; ; attempt++) {
    try {
      removeOnce(path, options);
      return;
    } catch (error) {
      if (attempt === mostAttempts) throw error;
      Atomics.wait(clock, 0, 0, pauseMs);
    }
  }
};
syncBuiltinESMExports();
