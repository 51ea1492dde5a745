import { chmodSync, lstatSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { ConfigurationError } from "@moraine/codec";
import { makeFolders } from "./make-folders.js";

const privateMode = 0o700;

/**
 * The folder in which processes of this user on this machine find each other: `MORAINE_RUNTIME_DIR`, else `moraine` in
 * `XDG_RUNTIME_DIR`, else `moraine-<user id>` in the folder for temporary files. Nobody else may write it. Fails with
 * `configuration`.
 */
export function runtimeFolder(): string {
  const folder = chooseFolder();
  try {
    makeFolders(resolve(folder), privateMode);
    const stats = lstatSync(folder);
    const user = process.getuid?.();
    if (!stats.isDirectory() || (user !== undefined && stats.uid !== user)) {
      throw new ConfigurationError(`${folder} is no folder of this user`, { remedy: remedyText });
    }
    if (process.platform !== "win32" && (stats.mode & 0o077) !== 0) chmodSync(folder, privateMode);
  } catch (cause) {
    if (cause instanceof ConfigurationError) throw cause;
    throw new ConfigurationError(`${folder} cannot be made or used`, { remedy: remedyText, cause });
  }
  return folder;
}

const remedyText = "Set MORAINE_RUNTIME_DIR to a folder that belongs to this user.";

function chooseFolder(): string {
  const named = process.env["MORAINE_RUNTIME_DIR"];
  if (named !== undefined && named !== "") return named;
  const session = process.env["XDG_RUNTIME_DIR"];
  if (session !== undefined && session !== "") return join(session, "moraine");
  return join(tmpdir(), `moraine-${process.getuid?.() ?? "user"}`);
}
