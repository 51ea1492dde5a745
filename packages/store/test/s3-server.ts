import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";

/** A running S3 server with conditional writes (versitygw on a temporary folder). */
export interface S3Server {
  readonly endpoint: string;
  readonly port: number;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  createBucket(name: string): Promise<void>;
  /** Ends the server at once, whatever it is doing. Its folder stays. */
  kill(): Promise<void>;
  /** Starts it again after `kill`, on the same port and folder. */
  restart(): Promise<void>;
  /** Stops the server and removes its folder. */
  stop(): Promise<void>;
}

/** Where versitygw is: `VERSITYGW`, then PATH, where `go install` puts it, and `.cache/bin` of the repository. Undefined when it is nowhere. */
function findS3Server(): string | undefined {
  const named = process.env["VERSITYGW"];
  if (named !== undefined && named !== "") return named;
  const goPath = process.env["GOPATH"] ?? join(homedir(), "go");
  const folders = [
    ...(process.env["PATH"] ?? "").split(delimiter),
    process.env["GOBIN"] ?? "",
    ...goPath.split(delimiter).map((folder) => join(folder, "bin")),
    fileURLToPath(new URL("../../../.cache/bin", import.meta.url)),
  ];
  return folders
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, "versitygw"))
    .find(isExecutable);
}

/** Whether S3 tests can run. Prints one line when they cannot, so that a skipped test never goes unseen. */
export function hasS3Server(tests: string): boolean {
  if (findS3Server() !== undefined) return true;
  process.stderr.write(
    `skipped: ${tests} (no versitygw: go install github.com/versity/versitygw/cmd/versitygw@latest)\n`,
  );
  return false;
}

/** Starts a server of its own for the caller. */
export async function startS3Server(): Promise<S3Server> {
  const binary = findS3Server();
  if (binary === undefined) throw new Error("versitygw was not found");
  const folder = await mkdtemp(join(tmpdir(), "moraine-s3-"));
  const credentials = { accessKeyId: "test", secretAccessKey: "testtest" };
  const port = await freePort();
  const start = async (): Promise<ChildProcess> => {
    const started = spawn(binary, ["--keep-alive", "--port", `127.0.0.1:${port}`, "posix", folder], {
      env: { ...process.env, ROOT_ACCESS_KEY: credentials.accessKeyId, ROOT_SECRET_KEY: credentials.secretAccessKey },
      stdio: ["ignore", "pipe", "pipe"],
    });
    await untilListening(started);
    return started;
  };
  let server = await start();
  const kill = async (): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    server.kill("SIGKILL");
    await once(server, "exit");
  };
  const endpoint = `http://127.0.0.1:${port}`;
  const region = "us-east-1";
  return {
    endpoint,
    port,
    region,
    credentials,
    async createBucket(name) {
      const client = new S3Client({ endpoint, region, credentials, forcePathStyle: true });
      await client.send(new CreateBucketCommand({ Bucket: name }));
      client.destroy();
    },
    kill,
    async restart() {
      server = await start();
    },
    async stop() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function freePort(): Promise<number> {
  const probe = createServer();
  probe.listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  if (address === null || typeof address === "string") throw new Error("no port was given");
  return address.port;
}

/** Waits for the line in which the server says where it listens. */
async function untilListening(server: ChildProcess): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    let output = "";
    const onOutput = (chunk: Buffer): void => {
      output += chunk.toString();
      if (!output.includes("listening on")) return;
      // From here on it logs a line a request, which must be drained and not kept.
      server.stdout?.off("data", onOutput).resume();
      server.stderr?.off("data", onOutput).resume();
      resolve();
    };
    server.stdout?.on("data", onOutput);
    server.stderr?.on("data", onOutput);
    server.once("error", reject);
    server.once("exit", (code) => reject(new Error(`the S3 server ended with ${code}: ${output}`)));
  });
}
