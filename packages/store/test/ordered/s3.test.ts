import { afterAll, beforeAll, describe } from "vitest";
import { hasS3Server, startS3Server, type S3Server } from "../s3-server.js";
import { describeStore } from "./conformance.js";
import { useS3Environment } from "../s3-environment.js";

describe.skipIf(!hasS3Server("store in S3"))("S3", () => {
  let server: S3Server;
  let restore: () => void;
  beforeAll(async () => {
    server = await startS3Server();
    await server.createBucket("stores");
    restore = useS3Environment(server);
  });
  afterAll(async () => {
    restore();
    await server.stop();
  });

  let count = 0;
  describeStore({ name: "S3", freshUrl: () => `s3://stores/lake/store-${++count}` });
});
