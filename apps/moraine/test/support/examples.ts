import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

/** A piece of documented code, named by what it documents. */
export interface Example {
  readonly name: string;
  readonly code: string;
}

/** What an example finds ready beside what its beginning makes. */
export interface ExampleScope {
  /** Fails the example when a line does not give what its `// =>` says. */
  readonly check: (actual: unknown, expected: unknown) => void;
}

const workspace = fileURLToPath(new URL("../../../../", import.meta.url));

/** Code of each `@example` block of a source file, in order, and of its one `@prelude`. */
export function examplesOfSource(source: string): { readonly prelude: string; readonly examples: Example[] } {
  const examples: Example[] = [];
  let prelude = "";
  for (const [comment, end] of [...source.matchAll(/\/\*\*[^]*?\*\//gu)].map(
    (match) => [match[0], match.index + match[0].length] as const,
  )) {
    const documented = /^\s*(?:export )?(?:interface |type )?(\w+)/u.exec(source.slice(end))?.[1] ?? "unknown";
    const text = comment
      .replace(/^\/\*\*|\*\/$/gu, "")
      .split("\n")
      .map((line) => line.replace(/^ *\* ?/u, ""))
      .join("\n");
    const [, ...blocks] = text.split(/^@/mu);
    for (const block of blocks) {
      const [tag = "", ...lines] = block.split("\n");
      const code = lines.join("\n").trimEnd();
      if (tag === "prelude") prelude = code;
      if (tag === "example") examples.push({ name: documented, code });
    }
  }
  return { prelude, examples };
}

/** Fenced `ts` blocks of a Markdown file. */
export function examplesOfMarkdown(text: string, name: string): Example[] {
  return [...text.matchAll(/^```ts\n([^]*?)^```/gmu)].map((match, at) => ({
    name: `${name}, block ${at + 1}`,
    code: match[1] ?? "",
  }));
}

/**
 * Turns examples into a module of functions and writes it where vitest and the compiler find it. Imports come to the top; a
 * `// => value` becomes a check of what its line gives; locations become those that `places` names.
 */
export function writeExampleModule(
  path: string,
  prelude: string,
  examples: readonly Example[],
  scopeType: string,
  ending: string,
  places: (at: number) => Readonly<Record<string, string>>,
): void {
  const imports = new Map<string, Set<string>>();
  const collect = (code: string): string =>
    code.replace(/^import \{([^}]*)\} from "([^"]+)";\n?/gmu, (_, names: string, from: string) => {
      const known = imports.get(from) ?? new Set<string>();
      for (const name of names.split(",")) if (name.trim() !== "") known.add(name.trim());
      imports.set(from, known);
      return "";
    });
  const bodies = examples.map(({ name, code }, at) => {
    let body = `${collect(prelude)}\ntry {\n${withChecks(collect(code))}\n} finally {\n${ending}\n}`;
    for (const [from, to] of Object.entries(places(at))) body = body.replaceAll(from, to);
    return `  ${JSON.stringify(`${at + 1} ${name}`)}: async (given: Scope): Promise<void> => {\n${body}\n  },`;
  });
  const head = [...imports].map(([from, names]) => `import { ${[...names].join(", ")} } from ${JSON.stringify(from)};`);
  const text = `${head.join("\n")}\n${scopeType}\nexport const examples = {\n${bodies.join("\n")}\n};\n`;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** Each line with a `// => value`, or with one below it, followed by a check. */
function withChecks(code: string): string {
  const lines = code.replace(/;\n\s*\/\/ => /gu, "; // => ").split("\n");
  return lines
    .map((line) => {
      const match = /^(\s*)(?:const (?:\[(\w+)\]|(?:\{ )?(\w+)(?: \})?) = )?(.*); \/\/ => (.*)$/u.exec(line);
      if (match === null) return line;
      const [, indent = "", element, name, expression = "", expected = ""] = match;
      const named = element ?? name;
      if (named === undefined) return `${indent}given.check(${expression}, ${expected});`;
      return `${line}\n${indent}given.check(${named}, ${expected});`;
    })
    .join("\n");
}

/** What the compiler has to say about a module, under the options of the workspace's tests. */
export function compilerMessages(path: string): string[] {
  const config = ts.readConfigFile(`${workspace}tsconfig.test.json`, (file) => readFileSync(file, "utf8"));
  const parsed = ts.parseJsonConfigFileContent(config.config, ts.sys, workspace);
  const { tsBuildInfoFile: _, ...options } = parsed.options;
  const program = ts.createProgram([path], { ...options, incremental: false });
  return ts
    .getPreEmitDiagnostics(program, program.getSourceFile(path))
    .map((message) => `${message.start ?? 0}: ${ts.flattenDiagnosticMessageText(message.messageText, "\n")}`);
}
