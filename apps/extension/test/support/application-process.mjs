// An application of one file, on what was built last: opens DuckDB with the service of a store in a thread, writes a row, and ends in
// the way that it is told: it closes ("close"), waits for that as well ("await"), or does neither ("forget").
import { openDuckDB } from "../../dist/index.js";

const [store = "", dataPath = "", ending] = process.argv.slice(2);
const opened = await openDuckDB({ store, dataPath, engine: "thread" });
await opened.connection.run("CREATE TABLE IF NOT EXISTS t(a BIGINT)");
await opened.connection.run("INSERT INTO t VALUES (1)");
if (ending === "await") await opened[Symbol.asyncDispose]();
if (ending === "close") opened.close();
