// Looks at every file that git would commit: nothing of one machine, nothing unfinished, nothing binary or oversized, no
// test that is switched off, no pointer to a document that is not here, nothing about how the work was organised; and
// each package has what a released package needs.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { isMain, reportProblems, rootFrom } from "./lib/command-line.mjs";
import { isPlatformPackage } from "./lib/platforms.mjs";
import { listPackages } from "./lib/workspace.mjs";

const maxFileBytes = 192 * 1024;
/** Golden vectors and the lock file are data that no one reads line by line. */
const maxDataFileBytes = 2 * 1024 * 1024;
const dataPattern = /^golden\/|(^|\/)fixtures\/|^pnpm-lock\.yaml$/;
const codePattern = /\.(ts|mts|tsx|js|mjs|cjs|cc|cpp|hpp|h|sh)$/;
const testPattern = /\.test\.[a-z]+$/;

/**
 * One thing that no committed text may hold.
 * @typedef {object} Rule
 * @property {string} what
 * @property {RegExp} pattern
 * @property {RegExp} [only] Files that the rule looks at; all when absent.
 * @property {RegExp} [except] Files that it leaves out.
 * @property {RegExp} [allowedLine] A line that matches this is let through.
 */

/** This file and its test have to spell out what they look for. */
const self = /^tools\/check-hygiene(\.test)?\.[a-z]+$/;

/** @type {readonly Rule[]} */
const rules = [
  { what: "a path of one machine", pattern: /(?<![\w.:@-])\/(work|root|home\/[a-z][\w-]*|Users\/[A-Za-z][\w-]*)\// },
  { what: "a temporary folder by name (use os.tmpdir())", pattern: /["'`(]\/tmp\//, only: codePattern },
  {
    what: "the host of a package registry",
    pattern:
      /registry\.npmjs\.org|registry\.yarnpkg\.com|proxy\.golang\.org|files\.pythonhosted\.org|pypi\.org|index\.crates\.io/i,
  },
  { what: "an unfinished place", pattern: /\b(TODO|FIXME|XXX|HACK|WIP)\b/, except: /^\.oxlintrc\.json$/ },
  { what: "a stub", pattern: /\bnot (yet )?implemented\b/i, only: codePattern },
  {
    what: "a focused test",
    pattern: /\b(it|test|describe|suite|bench)(\.\w+)*\.only\b/,
    only: codePattern,
  },
  {
    what: "a skipped test",
    pattern: /\b(it|test|describe|suite|bench)(\.\w+)*\.(skip|todo|fails|skipIf|runIf)\b|\b(context|ctx)\.skip\(/,
    only: codePattern,
    // S3 needs a server that not every machine can have; suites over several backends ask each whether it is available.
    allowedLine: /\.(skipIf|runIf)\(.*(s3|available\))/i,
  },
  {
    what: "a switched-off compiler message",
    pattern: /@ts-(ignore|nocheck|expect-error)/,
    only: codePattern,
    // Types of an optional package may be missing where our declarations are read; the next line imports them.
    allowedLine: /\/\*\* @ts-ignore Optional: .* \*\//,
  },
  {
    what: "a secret",
    pattern:
      /-----BEGIN [A-Z ]*PRIVATE KEY-----|\bAKIA[0-9A-Z]{16}\b|\bnpm_[A-Za-z0-9]{36}\b|\bgh[pousr]_[A-Za-z0-9]{36}\b/,
  },
  {
    what: "words about how the work was organised",
    pattern:
      /\bissue [A-Z]\b|\bthe (assignment|brief|task description)\b|\bas (instructed|assigned)\b|\b(sub-?agents?|coding agent|AI assistant|language model|LLM)\b|\b(Claude|Anthropic|ChatGPT|Copilot|OpenAI)\b|\b[Aa]cceptance criteri|\bDone when\b|\b(our|the|your) colleagues?\b|\bthe reviewer\b|(?<![\w/.])shared\/(seed|reference|design|conventions)/,
  },
];

/**
 * Names of Markdown documents in a text, without their folders.
 * @param {string} text
 * @returns {string[]}
 */
function documentsNamed(text) {
  return [...text.matchAll(/(?<![\w*])([A-Za-z0-9][\w-]*\.md)\b/g)].flatMap((match) => match[1] ?? []);
}

/** Documents that come to be by a release or stand in other projects. */
const documentsElsewhere = new Set(["CHANGELOG.md"]);

/**
 * What is wrong with the text of one file.
 * @param {string} file
 * @param {string} text
 * @param {ReadonlySet<string>} documents Names of the Markdown files of the repository.
 * @returns {string[]}
 */
export function textProblems(file, text, documents) {
  if (self.test(file)) {
    return [];
  }
  const applicable = rules.filter(
    ({ only, except }) => (only === undefined || only.test(file)) && (except === undefined || !except.test(file)),
  );
  const checksDocuments = !testPattern.test(file);
  return text.split("\n").flatMap((line, index) => {
    const at = `${file}:${index + 1}`;
    const broken = applicable
      .filter(({ pattern, allowedLine }) => pattern.test(line) && !(allowedLine?.test(line) ?? false))
      .map(({ what }) => `${at}: ${what}`);
    const dangling = checksDocuments
      ? documentsNamed(line)
          .filter((name) => !documents.has(name) && !documentsElsewhere.has(name))
          .map((name) => `${at}: names ${name}, which is not in the repository`)
      : [];
    return [...broken, ...dangling];
  });
}

/**
 * Files that git has or would add, by path from the root.
 * @param {string} root
 * @returns {string[]}
 */
function committedFiles(root) {
  const listed = spawnSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (listed.status !== 0) {
    throw new Error(`git ls-files failed: ${listed.stderr}`);
  }
  return listed.stdout.split("\0").filter((file) => file !== "" && existsSync(join(root, file)));
}

/**
 * @param {string} root
 * @returns {string[]}
 */
function fileProblems(root) {
  const files = committedFiles(root);
  const documents = new Set(files.filter((file) => file.endsWith(".md")).map((file) => basename(file)));
  return files.flatMap((file) => {
    const isData = dataPattern.test(file);
    const limitBytes = isData ? maxDataFileBytes : maxFileBytes;
    const { size } = statSync(join(root, file));
    if (size > limitBytes) {
      return [`${file}: ${size} bytes, more than the ${limitBytes} allowed`];
    }
    const bytes = readFileSync(join(root, file));
    if (bytes.includes(0)) {
      return [`${file}: a binary file`];
    }
    return isData ? [] : textProblems(file, bytes.toString("utf8"), documents);
  });
}

/**
 * Packages named by the changesets that wait for the next release.
 * @param {string} root
 * @returns {Map<string, string>} Package name to the changeset's path.
 */
function pendingChangesets(root) {
  const folder = join(root, ".changeset");
  const files = existsSync(folder) ? readdirSync(folder) : [];
  return new Map(
    files
      .filter((file) => file.endsWith(".md") && file !== "README.md")
      .flatMap((file) => {
        const header = readFileSync(join(folder, file), "utf8").split(/^---$/m)[1] ?? "";
        return [...header.matchAll(/^["']?([^"':\n]+)["']?\s*:/gm)].map(
          (match) => /** @type {const} */ ([match[1] ?? "", `.changeset/${file}`]),
        );
      }),
  );
}

/**
 * @param {string} root
 * @returns {string[]}
 */
function packageProblems(root) {
  const packages = listPackages(root);
  const pending = pendingChangesets(root);
  const names = new Set(packages.map(({ manifest }) => manifest.name));
  const strangers = [...pending]
    .filter(([name]) => !names.has(name))
    .map(([name, path]) => `${path}: ${name} is not a package of this workspace`);
  const lacking = packages.flatMap(({ folder, manifest }) => {
    /** @type {string[]} */
    const problems = [];
    if (!existsSync(join(root, folder, "README.md"))) {
      problems.push(`${folder}: no README.md`);
    }
    if (!existsSync(join(root, folder, "CHANGELOG.md")) && !pending.has(manifest.name)) {
      problems.push(`${folder}: neither a CHANGELOG.md nor a changeset for its first release`);
    }
    if (manifest.license !== "MIT") {
      problems.push(`${folder}/package.json: license must be "MIT"`);
    }
    const entry = manifest.exports?.["."];
    if (
      manifest.private !== true &&
      !isPlatformPackage(manifest) &&
      (typeof entry !== "object" || entry["types"] === undefined)
    ) {
      problems.push(`${folder}/package.json: exports["."] must have types`);
    }
    return problems;
  });
  return [...strangers, ...lacking];
}

/**
 * Everything that is wrong with the repository, one line each.
 * @param {string} root
 * @returns {string[]}
 */
export function checkHygiene(root) {
  return [...fileProblems(root), ...packageProblems(root)];
}

if (isMain(import.meta.url)) {
  const root = rootFrom(process.argv);
  reportProblems("hygiene", checkHygiene(root), `${committedFiles(root).length} files are clean`);
}
