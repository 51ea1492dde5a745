// The command line: runs when it is loaded.
import { run } from "./cli/program.js";

// A reader that has seen enough, such as `head`, closes the pipe; that is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

// The AWS SDK would put a paragraph about Node's age in front of each error that is to be one line.
process.env["AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED"] ??= "true";

process.exitCode = await run(process.argv.slice(2), { output: process, stdin: process.stdin });
