import { ConfigurationError } from "@moraine/codec";

/** The version of DuckDB that the extension is built for. A loadable extension fits one version exactly. */
export const duckDbVersion = "v1.5.5";

/** This machine in DuckDB's words. Errors: `configuration` where there is no build of the extension for it. */
export function duckDbPlatform(): string {
  const { platform, arch } = process;
  if (platform === "linux" && arch === "x64") return "linux_amd64";
  if (platform === "linux" && arch === "arm64") return "linux_arm64";
  throw new ConfigurationError(`the DuckDB extension is not built for ${platform} ${arch}`, {
    remedy: "Use the embedding API here, or DuckDB on Linux.",
  });
}
