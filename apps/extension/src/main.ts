// The command `moraine-service`: runs when it is loaded. What is imported here is loaded before the socket is there.
import { parseArgs } from "node:util";
import { MoraineError } from "@moraine/codec";
import { serveOptions } from "./service/serve-arguments.js";
import { serve } from "./service/service.js";

const usage = `Usage: moraine-service serve <store> [--auto] [--idle-timeout <seconds>] [--log-level <level>]
       moraine-service status [--json]
       moraine-service stop <store>

serve   holds the store open for DuckDB processes of this user, until it is stopped
        --auto          as clients start it: ends when another service is there, and after 60 s without a client
        --idle-timeout  ends after so long without a client (default: never, with --auto MORAINE_IDLE_TIMEOUT or 60)
        --log-level     debug, info, warn or error (default: MORAINE_LOG_LEVEL or info)
status  lists the services of this user
stop    ends the service of a store, and waits until it has closed the store
`;

/** As in \`moraine\`, see its help. */
const exitStatus = { failure: 1, usage: 2 } as const;

async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      auto: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
      "idle-timeout": { type: "string" },
      json: { type: "boolean", default: false },
      "log-level": { type: "string" },
    },
  });
  const [command, store, ...others] = positionals;
  if (values.help) {
    process.stdout.write(usage);
    return 0;
  }
  if (command === "serve" && store !== undefined && others.length === 0) {
    const { auto } = values;
    const options = serveOptions(store, { auto, idleTimeout: values["idle-timeout"], logLevel: values["log-level"] });
    return await serve({
      ...options,
      listening: ({ location, socket }) => process.stdout.write(`serving ${location} at ${socket}\n`),
    });
  }
  if (command === "status" && store === undefined) {
    const { listServices } = await import("./client/services.js");
    const services = await listServices();
    if (values.json) process.stdout.write(`${JSON.stringify({ services })}\n`);
    else for (const { socket, status } of services) process.stdout.write(`${socket} ${JSON.stringify(status)}\n`);
    return 0;
  }
  if (command === "stop" && store !== undefined && others.length === 0) {
    const { stopService } = await import("./client/services.js");
    const pid = await stopService(store);
    process.stdout.write(
      pid === undefined ? "no service runs for that store\n" : `the service of process ${pid} has ended\n`,
    );
    return 0;
  }
  process.stderr.write(usage);
  return exitStatus.usage;
}

function failure(error: unknown): number {
  const isUsage = error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
  if (isUsage) process.stderr.write(`moraine-service: ${error.message}\n${usage}`);
  else if (error instanceof MoraineError) {
    const { message, remedy } = error.readable;
    process.stderr.write(`moraine-service: ${message}\n  remedy: ${remedy}\n`);
  } else process.stderr.write(`moraine-service: ${error instanceof Error ? error.stack : String(error)}\n`);
  return isUsage ? exitStatus.usage : exitStatus.failure;
}

// The AWS SDK would put a paragraph about Node's age in front of each error.
process.env["AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED"] ??= "true";
process.exitCode = await run(process.argv.slice(2)).catch(failure);
// A request that S3 never answers is tried for ever, and would keep the process.
process.exit();
