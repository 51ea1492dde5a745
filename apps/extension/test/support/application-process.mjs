// An application of one file, on what was built last: opens DuckDB with the service of a store in a thread, writes a row, and ends in
// the way that it is told: it closes ("close"), waits for that as well ("await"), does neither ("forget"), exits ("exit"), or exits after so many milliseconds.
import { openDuckDB } from "../../dist/index.js";

const [store = "", dataPath = "", ending] = process.argv.slice(2);
if (Number(ending) >= 0) setTimeout(() => process.exit(0), Number(ending));
const opened = await openDuckDB({ store, dataPath, engine: "thread" });
await opened.connection.run("CREATE TABLE IF NOT EXISTS t(a BIGINT)");
await opened.connection.run("INSERT INTO t VALUES (1)");
if (ending === "await") await opened[Symbol.asyncDispose]();
if (ending === "close") opened.close();
if (ending === "exit") process.exit(0);
