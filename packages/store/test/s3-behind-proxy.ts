import { afterAll, afterEach, beforeAll } from "vitest";
import { CuttingProxy } from "./cutting-proxy.js";
import { useS3Environment } from "./s3-environment.js";
import { startS3Server, type S3Server } from "./s3-server.js";

/** For the tests of one suite: an S3 server with a bucket `stores`, reached through a proxy that each test begins whole. */
export function useS3BehindProxy(): { readonly proxy: CuttingProxy } {
  let server: S3Server;
  let proxy: CuttingProxy;
  let restore: () => void;
  beforeAll(async () => {
    server = await startS3Server();
    await server.createBucket("stores");
    proxy = await CuttingProxy.start(server.port);
    restore = useS3Environment(server, `http://127.0.0.1:${proxy.port}`);
  });
  afterEach(() => proxy.set(undefined));
  afterAll(async () => {
    restore();
    await proxy.stop();
    await server.stop();
  });
  return {
    get proxy() {
      return proxy;
    },
  };
}
