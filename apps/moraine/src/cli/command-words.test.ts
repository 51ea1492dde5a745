import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { commandWords, inCommandWords } from "./command-words.js";

const workspace = fileURLToPath(new URL("../../../../", import.meta.url));

describe("remedies in the words of the command line", () => {
  it("begin from what the sources say now", () => {
    const folders = ["apps/moraine", ...readdirSync(`${workspace}packages`).map((name) => `packages/${name}`)];
    const sources = folders.flatMap((folder) =>
      readdirSync(`${workspace}${folder}/src`, { encoding: "utf8", recursive: true })
        .filter((path) => path.endsWith(".ts") && !/command-words|\.test\.ts$/u.test(path))
        .map((path) => readFileSync(`${workspace}${folder}/src/${path}`, "utf8")),
    );
    for (const [ofTheApi] of commandWords)
      expect(
        sources.some((text) => text.includes(ofTheApi)),
        ofTheApi,
      ).toBe(true);
  });

  it("name no option, handle or call of the embedding API", () => {
    for (const [ofTheApi, ofTheCommand] of commandWords) {
      expect(inCommandWords(ofTheApi)).toBe(ofTheCommand);
      expect(ofTheCommand).not.toMatch(/[a-z][A-Z]|handle|snapshot|pass |open|memory:/u);
    }
  });

  it("are otherwise as they are", () => {
    expect(inCommandWords("Set AWS_REGION.")).toBe("Set AWS_REGION.");
    expect(inCommandWords("Free some space, then open the store again.")).toBe(
      "Free some space, then run the command again.",
    );
  });
});
