export { extensionAvailable } from "../../../../packages/duckdb-ext/test/extensions.js";
