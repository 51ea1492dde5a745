// A thread that serves a store for its process: runs when it is loaded, and ends when a message comes.
import { parentPort, workerData } from "node:worker_threads";
import type { ThreadNews, ThreadTask } from "./client/service-thread.js";
import { serveOptions } from "./service/serve-arguments.js";
import { serve } from "./service/service.js";

const port = parentPort;
if (port === null) throw new Error("this is no program: it runs as a thread");
const { store, script, over } = workerData as ThreadTask;
// Locks name the application, by what it was started with.
process.argv.splice(1, 1, ...script);
// The AWS SDK would put a paragraph about Node's age in front of each error.
process.env["AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED"] ??= "true";
const closing = new AbortController();
port.once("message", () => closing.abort());
const tell = (news: ThreadNews): void => port.postMessage(news);
try {
  const ended = await serve({
    ...serveOptions(store, { auto: true }),
    idleTimeoutMs: undefined,
    listening: () => tell("listening"),
    signal: closing.signal,
  });
  tell({ ended });
} finally {
  Atomics.store(over, 0, 1);
  Atomics.notify(over, 0);
}
// Nothing else keeps the thread. To end it in the middle of a call of the store's binding would end the process.
port.close();
