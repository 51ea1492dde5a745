import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { LakeClient } from "../../../../packages/duckdb-ext/test/lake-client.js";
import { stopServices } from "../../../../packages/duckdb-ext/test/services.js";
import { type ServicePlace, servicePlace } from "../../src/service/place.js";

const command = fileURLToPath(new URL("../../bin/moraine-service.js", import.meta.url));

/** A run of `moraine-service`, of what was built last. */
export interface ServiceProcess {
  readonly child: ChildProcess;
  readonly pid: number;
  /** Exit status, or the signal that ended it. */
  readonly ended: Promise<number | string>;
  readonly stderr: Promise<string>;
  /** Resolves when it says that it listens; rejects when it ends before. */
  readonly listening: Promise<void>;
}

/** A folder for stores and one for sockets, which is that of this process as well; whatever was started in it is ended with the test. */
export class ServiceFolder {
  readonly path: string;
  readonly #children: ChildProcess[] = [];

  constructor() {
    this.path = mkdtempSync(join(tmpdir(), "moraine-service-"));
    process.env["MORAINE_RUNTIME_DIR"] = join(this.path, "run");
    onTestFinished(async () => {
      for (const child of this.#children) {
        if (child.exitCode !== null || child.signalCode !== null) continue;
        child.kill("SIGKILL");
        await once(child, "exit");
      }
      // Those that DuckDB has started.
      await stopServices(this.path);
      rmSync(this.path, { recursive: true, force: true });
    });
  }

  get store(): string {
    return join(this.path, "store");
  }

  get place(): ServicePlace {
    return servicePlace(this.store);
  }

  /** Starts `moraine-service serve` on the folder's store. */
  serve(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): ServiceProcess {
    return this.run(["serve", this.store, ...args], env);
  }

  run(args: readonly string[], env: Readonly<Record<string, string>> = {}): ServiceProcess {
    const child = spawn(process.execPath, [command, ...args], {
      cwd: this.path,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#children.push(child);
    const ended = once(child, "exit").then(([code, signal]) => (code ?? signal) as number | string);
    const stderr = text(child.stderr);
    const listening = new Promise<void>((resolve, reject) => {
      child.stdout.once("data", () => resolve());
      child.once("exit", (code) => reject(new Error(`the service ended with ${code}`)));
    });
    // Whoever does not wait for it does not care either.
    listening.catch(() => undefined);
    return { child, pid: child.pid ?? -1, ended, stderr, listening };
  }

  /** Events of the store's log, oldest first. */
  log(): Readonly<Record<string, unknown>>[] {
    return readFileSync(this.place.log, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
  }
}

/** A client of the service of a folder, which has said hello. It goes with the test. */
export async function connect(folder: ServiceFolder): Promise<LakeClient> {
  const client = await LakeClient.connect(folder.place.socket);
  onTestFinished(() => client.wire.close());
  return client;
}
