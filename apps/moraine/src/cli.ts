// The command line: runs when it is loaded.
import { asksForJson } from "./cli/failure.js";
import { reportInterrupt } from "./cli/interrupt.js";

const args = process.argv.slice(2);
// Before all that takes time to load.
reportInterrupt(asksForJson(args));

// A reader that has seen enough, such as `head`, closes the pipe; that is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

// The AWS SDK would put a paragraph about Node's age in front of each error that is to be one line.
process.env["AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED"] ??= "true";

// Without its native loops the store works as well, and `moraine census` says that it has none: no command needs a paragraph
// about it, unless an addon was asked for by name. All other warnings go where Node puts them.
const addonIsNamed = (process.env["MORAINE_NATIVE_ADDON"] ?? "") !== "";
process.removeAllListeners("warning");
process.on("warning", (warning: Error & { readonly code?: string }) => {
  if (warning.code === "MORAINE_PLAIN_BINDING" && !addonIsNamed) return;
  process.stderr.write(`(node:${process.pid}) ${warning.name}: ${warning.message}\n`);
});

const { run } = await import("./cli/program.js");
process.exitCode = await run(args, { output: process, stdin: process.stdin });
