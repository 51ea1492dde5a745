import type { OpenDuckDb } from "./interface.js";
import { checkNames, checkOptionalBoolean, checkOptionalText, checkText, wrong } from "./options.js";

/** DuckDB with a lake attached. See `OpenDuckDb`. */
export const openDuckDB: OpenDuckDb = async (options) => {
  checkNames(options, "options", ["store", "dataPath", "name", "readOnly", "database", "settings", "engine"]);
  checkText(options.store, "store");
  checkOptionalText(options.dataPath, "dataPath");
  if (options.name !== undefined) checkText(options.name, "name");
  checkOptionalBoolean(options.readOnly, "readOnly");
  checkOptionalText(options.database, "database");
  checkSettings(options.settings);
  checkEngine(options.engine);
  // Loaded here: who does not open DuckDB needs nothing of it.
  const extension = await import("@moraine/extension");
  return await extension.openDuckDB(options);
};

function checkEngine(engine: unknown): void {
  if (engine !== undefined && engine !== "process" && engine !== "thread")
    throw wrong("engine", '"process" or "thread"');
}

function checkSettings(settings: unknown): void {
  if (settings === undefined) return;
  const isObject = typeof settings === "object" && settings !== null && !Array.isArray(settings);
  if (!isObject || Object.values(settings).some((value) => typeof value !== "string")) {
    throw wrong("settings", "an object of strings");
  }
}
