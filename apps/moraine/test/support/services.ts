export { extensionAvailable } from "../../../../packages/duckdb-ext/test/extensions.js";
export { stopServices } from "../../../../packages/duckdb-ext/test/services.js";
