/**
 * Remedies of the embedding API as a command's user can follow them: there is no handle to open and no option to pass, but a
 * command to run. Each phrase stands in the sources as it stands here, which a test checks.
 */
export const commandWords: readonly (readonly [ofTheApi: string, ofTheCommand: string])[] = [
  [
    "Close it there, open read-only, or pass takeOver: true to displace that writer.",
    "End that process, or displace it with --take-over.",
  ],
  ["Open the store again, or with takeOver: true.", "Run the command again, or with --take-over."],
  [
    "Open the store again if this process should be its writer; the other one is then displaced.",
    "Run the command again if it should be the writer; the other process is then displaced.",
  ],
  ["Check the location, or open it for writing first.", "Check the location."],
  [
    "Read again; ask for less at a time, or open the catalog for writing where reads must keep up.",
    "Run the command again, with a smaller --limit where it has one.",
  ],
  [
    "Give memory://name, file:///absolute/path, a path, or s3://bucket/prefix.",
    "Give s3://bucket/prefix, file:///absolute/path or a path.",
  ],
  ["Open the store again", "Run the command again"],
  ["open the store again", "run the command again"],
  ["then open it again", "then run the command again"],
  ["then read again", "then run the command again"],
  ["Open a new handle.", "Run the command again."],
  ["Read again, with a new snapshot or scan.", "Run the command again."],
];

/** A remedy in the words of the command line. */
export function inCommandWords(remedy: string): string {
  return commandWords.reduce((text, [ofTheApi, ofTheCommand]) => text.replace(ofTheApi, ofTheCommand), remedy);
}
