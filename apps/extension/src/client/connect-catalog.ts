import { basename } from "node:path";
import { ConnectedCatalog } from "@moraine/catalog";
import { ServiceLink } from "@moraine/duckdb-ext";
import { servicePlace } from "../service/place.js";
import { dialService } from "./dial.js";

export interface ConnectCatalogOptions {
  readonly store: string;
  /** Absolute, or a URL. */
  readonly dataPath?: string | undefined;
  readonly encrypted?: boolean | undefined;
  readonly requestTimeoutMs: number;
}

export interface Connected {
  readonly catalog: ConnectedCatalog;
  /** Of the store. */
  readonly location: string;
}

/** The catalog of a store in its service, which is started where none runs. */
export async function connectCatalog(options: ConnectCatalogOptions): Promise<Connected> {
  const { store, dataPath, encrypted, requestTimeoutMs } = options;
  const place = servicePlace(store);
  const program = basename(process.argv[1] ?? process.execPath);
  const dial = () => dialService(place, program);
  const { location } = place;
  const link = await ServiceLink.open({
    dial,
    store: location,
    cwd: process.cwd(),
    dataPath,
    encrypted,
    requestTimeoutMs,
  });
  return { catalog: new ConnectedCatalog(link), location };
}
