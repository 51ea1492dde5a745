import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

/** Files of a small workspace, by path; an object is written as JSON. */
export type WorkspaceFiles = Readonly<Record<string, string | object>>;

/** Writes files into a folder of their own, which goes when the test ends. Returns the folder. */
export function temporaryWorkspace(files: WorkspaceFiles): string {
  const root = mkdtempSync(join(tmpdir(), "moraine-tools-"));
  onTestFinished(() => {
    rmSync(root, { recursive: true, force: true });
  });
  writeFiles(root, files);
  return root;
}

/** Writes or replaces files below a folder. */
export function writeFiles(root: string, files: WorkspaceFiles): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), typeof content === "string" ? content : JSON.stringify(content));
  }
}

/** Makes the folder a git repository without commits: its files count as files that would be added. */
export function initGit(root: string): void {
  execFileSync("git", ["init", "--quiet"], { cwd: root });
}
