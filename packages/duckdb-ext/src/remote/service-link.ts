import {
  checkDataPath,
  type CatalogLink,
  type LandedCommit,
  type RecordedCommit,
  type RemoteCut,
  type RemoteMethod,
} from "@moraine/catalog";
import {
  ClosedError,
  ConfigurationError,
  currentKey,
  NotFoundError,
  type SnapshotId,
  StoreUnavailableError,
} from "@moraine/codec";
import { packKeys, valueAt } from "@moraine/store";
import type { ServiceClient } from "../service-client.js";
import { ConnectionLostError, exchange, LateAnswerError } from "./exchange.js";
import { ServiceCut } from "./service-cut.js";
import { Session } from "./session.js";
import { valueBytes, valueOf } from "./values.js";

export interface LinkOptions {
  /** A connection to the service of the store that has been greeted. It is started where none runs. */
  readonly dial: () => Promise<ServiceClient>;
  /** Canonical. */
  readonly store: string;
  /** Of this process. A recorded data path that is relative is resolved by it. */
  readonly cwd: string;
  /** Absolute, or a URL. */
  readonly dataPath: string | undefined;
  readonly encrypted: boolean | undefined;
  /** How long a read, or a commit until it is durable, may take. */
  readonly requestTimeoutMs: number;
}

/** Tells a lake from others that are made at the same place later: the schema `main`, which is made with it, has a uuid. */
const identityKeys = packKeys([currentKey("schema", 0n)]);

/**
 * The link of a connected catalog to the service of its store. Where the service has ended the next call connects anew, to the very lake
 * that it was connected to: the store's folder may have been moved away meanwhile, and another one be there.
 */
export class ServiceLink implements CatalogLink {
  readonly #options: LinkOptions;
  /** What the lake has at `identityKeys`, once it has been connected to. */
  #identity: Uint8Array | undefined;
  #session: Promise<Session> | undefined;
  #closed = false;

  private constructor(options: LinkOptions) {
    this.#options = options;
  }

  /** Connects, and has the lake made where there is none. Errors: as `Catalog.open`; `store_unavailable` without a service. */
  static async open(options: LinkOptions): Promise<ServiceLink> {
    const link = new ServiceLink(options);
    await link.#again(() => Promise.resolve());
    return link;
  }

  async pin(held: RemoteCut | undefined, since: bigint | undefined): Promise<RemoteCut> {
    return await this.#again(async (session) => {
      const usable = held instanceof ServiceCut && held.isHeldIn(session) ? held : undefined;
      const request = { type: "pin", attachment: session.attachment, known: usable?.revision, since } as const;
      const answer = await session.inOrder(request, ["pinned", "unchanged"]);
      if (answer.type === "pinned") return new ServiceCut(session, answer);
      if (usable !== undefined) return usable;
      throw new ConnectionLostError(undefined);
    });
  }

  async claim(holds: boolean): Promise<void> {
    await this.#again((session) => session.beside({ type: "claim", attachment: session.attachment, holds }, ["done"]));
  }

  async commit(
    { members, ...commit }: RecordedCommit,
    signal: AbortSignal | undefined,
  ): Promise<LandedCommit | "stale"> {
    const packed = members.map((member) => valueBytes(member));
    const session = await this.#current();
    const request = { type: "commit_verbs", attachment: session.attachment, ...commit, members: packed } as const;
    try {
      const options = { limitMs: this.#options.requestTimeoutMs, signal };
      const answer = await session.beside(request, ["landed", "stale"], options);
      if (answer.type === "stale") return "stale";
      return { snapshots: answer.snapshots as readonly SnapshotId[], cut: new ServiceCut(session, answer) };
    } catch (error) {
      if (!(error instanceof ConnectionLostError || error instanceof LateAnswerError)) throw error;
      if (error instanceof ConnectionLostError && signal?.aborted !== true) {
        if (await this.#isKnownLost(session, commit.base)) return "stale";
      }
      throw new StoreUnavailableError("the answer to a commit was lost: it may have landed", {
        remedy: "Read whether its changes are there, and repeat it if they are not.",
        cause: error,
      });
    }
  }

  async call(method: RemoteMethod, args: unknown, onProgress?: (value: unknown) => void): Promise<unknown> {
    const session = await this.#current();
    const request = { type: "call", attachment: session.attachment, method, arguments: valueBytes(args) } as const;
    const told = onProgress === undefined ? undefined : (value: Uint8Array) => onProgress(valueOf(value));
    const { value } = await session.beside(request, ["returned"], { onProgress: told });
    return valueOf(value);
  }

  async close(): Promise<void> {
    this.#closed = true;
    const session = await this.#session?.catch(() => undefined);
    session?.end();
  }

  /**
   * Whether a commit whose answer was lost certainly did not land: another process holds the store by now, and finds it at the
   * revision on which the commit was made. The one before cannot write any more.
   */
  async #isKnownLost(lost: Session, base: bigint): Promise<boolean> {
    return await this.#again(async (session) => {
      if (session.servicePid === lost.servicePid) return false;
      const answer = await session.inOrder(
        { type: "pin", attachment: session.attachment, known: undefined, since: undefined },
        ["pinned"],
      );
      new ServiceCut(session, answer).release();
      return answer.revision === base;
    });
  }

  /** Runs requests that may be repeated: once more with a new session where theirs is lost. */
  async #again<T>(run: (session: Session) => Promise<T>): Promise<T> {
    try {
      return await run(await this.#current());
    } catch (error) {
      if (!(error instanceof ConnectionLostError)) throw error;
    }
    return await run(await this.#current());
  }

  async #current(): Promise<Session> {
    for (;;) {
      if (this.#closed) throw new ClosedError("the catalog was closed");
      const opening = (this.#session ??= this.#connect());
      try {
        const session = await opening;
        if (!session.hasEnded) return session;
      } catch (error) {
        if (this.#session === opening) this.#session = undefined;
        throw error;
      }
      if (this.#session === opening) this.#session = undefined;
    }
  }

  async #connect(): Promise<Session> {
    const { dial, requestTimeoutMs } = this.#options;
    const client = await dial();
    try {
      const session = new Session(client, await this.#attach(client), dial, requestTimeoutMs);
      await this.#checkLake(session);
      if (this.#closed) session.end();
      return session;
    } catch (error) {
      client.close();
      throw error;
    }
  }

  /** Looks first, so that a data path that is not the recorded one is refused before anything is made. */
  async #attach(client: ServiceClient): Promise<bigint> {
    const { dataPath, requestTimeoutMs: limitMs } = this.#options;
    const found = await exchange(client, this.#request(false), ["attached"], { limitMs });
    if (!found.exists) {
      if (this.#identity !== undefined) throw lakeIsGone("there is none");
      await exchange(client, { type: "detach", attachment: found.attachment }, ["done"], { limitMs });
      return (await exchange(client, this.#request(true), ["attached"], { limitMs })).attachment;
    }
    checkDataPath(found.dataPath, dataPath);
    if (dataPath !== undefined && found.dataPath === undefined) {
      throw new ConfigurationError("the lake is open without a data path, so that none can be recorded", {
        remedy: "Stop its service, and name the data path when the lake is opened first.",
      });
    }
    return found.attachment;
  }

  async #checkLake(session: Session): Promise<void> {
    const { attachment } = session;
    const { revision } = await session.inOrder({ type: "pin", attachment, known: undefined, since: undefined }, [
      "pinned",
    ]);
    const { data: keys, ends } = identityKeys;
    const values = await session.inOrder({ type: "read_many", attachment, revision, keys, ends }, ["values"]);
    await session.inOrder({ type: "unpin", attachment, revision }, ["done"]);
    const identity = Buffer.from(valueAt(values, 0) ?? []);
    this.#identity ??= identity;
    if (!identity.equals(this.#identity)) throw lakeIsGone("another one is");
  }

  #request(create: boolean): Parameters<typeof exchange>[1] {
    const { store, cwd, dataPath, encrypted } = this.#options;
    return { type: "connect", store, cwd, create, dataPath: create ? dataPath : undefined, encrypted };
  }
}

function lakeIsGone(what: string): NotFoundError {
  return new NotFoundError(`the lake that was connected: ${what} at the store's place by now`, {
    remedy: "Put the store's folder back, or connect anew, to where it is now.",
  });
}
