// What DuckDB reads at the end of an extension's file before it loads it: for which version and platform it was made.

const fieldBytes = 32;
const signatureBytes = 256;
/** A custom section of WebAssembly by the name of `duckdb_signature`, 512 bytes long: DuckDB puts it into every file. */
const head = Buffer.concat([
  Buffer.from([0x00, 0x93, 0x04, 0x10]),
  Buffer.from("duckdb_signature", "latin1"),
  Buffer.from([0x80, 0x04]),
]);

/** @param {string} text */
function field(text) {
  const bytes = Buffer.alloc(fieldBytes);
  bytes.write(text, "latin1");
  return bytes;
}

/**
 * @param {{ platform: string, duckdbVersion: string, extensionVersion: string }} about `platform` in DuckDB's words, for
 * instance `linux_amd64`; `duckdbVersion` with its `v`, to the letter what the host says.
 */
export function footerOf({ platform, duckdbVersion, extensionVersion }) {
  const fields = ["4", platform, duckdbVersion, extensionVersion, "CPP", "", "", ""];
  // No signature: the host has to allow unsigned extensions.
  return Buffer.concat([head, ...fields.map(field).reverse(), Buffer.alloc(signatureBytes)]);
}
