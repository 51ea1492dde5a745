import { closeSync, openSync, readSync } from "node:fs";
import { basename } from "node:path";

/** What decides which addon can be loaded; `process` is one. */
export interface Machine {
  readonly platform: string;
  readonly arch: string;
  /** The program that runs: Node itself. */
  readonly execPath: string;
}

/** The name of a platform as the binding and our packages use it, or for what there is no addon. */
export type Platform = { readonly name: string } | { readonly name: undefined; readonly without: string };

/**
 * The platform of this process. The build asks the same of its machine in `native/target.mjs`, which runs before there is
 * any JavaScript of these sources and is not published with them: what changes here changes there.
 */
export function platformOf({ platform, arch, execPath }: Machine): Platform {
  if (arch === "x64" || arch === "arm64") {
    if (platform === "darwin") return { name: `darwin-${arch}` };
    if (platform === "linux") {
      return isMusl(execPath) ? { name: undefined, without: `linux ${arch} with musl` } : { name: `linux-${arch}-gnu` };
    }
  }
  return { name: undefined, without: `${platform} ${arch}` };
}

/**
 * Whether a program runs on musl, by the loader that it names. Node's report knows the C library too, but making it looks up
 * the host name of every open connection, and nothing else runs meanwhile. A program that cannot be read or names no loader is
 * taken for one of glibc: the system refuses an addon that does not fit.
 */
function isMusl(program: string): boolean {
  return basename(loaderOf(program) ?? "").startsWith("ld-musl-");
}

/** The interpreter that a 64-bit little-endian ELF file names in its program header, as x64 and arm64 have it. */
function loaderOf(program: string): string | undefined {
  let file: number;
  try {
    file = openSync(program, "r");
  } catch {
    return undefined;
  }
  try {
    const read = (bytes: number, at: number): Buffer => {
      const buffer = Buffer.alloc(bytes);
      return buffer.subarray(0, readSync(file, buffer, 0, bytes, at));
    };
    const header = read(64, 0);
    if (header.length < 64 || header.readUInt32BE(0) !== 0x7f454c46) return undefined;
    const entryBytes = header.readUInt16LE(54);
    const entries = read(entryBytes * header.readUInt16LE(56), Number(header.readBigUInt64LE(32)));
    for (let at = 0; at + entryBytes <= entries.length; at += entryBytes) {
      const isInterpreter = entries.readUInt32LE(at) === 3;
      if (!isInterpreter) continue;
      const name = read(Number(entries.readBigUInt64LE(at + 32)), Number(entries.readBigUInt64LE(at + 8)));
      return name.toString("latin1").replace(/\0.*$/su, "");
    }
    return undefined;
  } finally {
    closeSync(file);
  }
}
