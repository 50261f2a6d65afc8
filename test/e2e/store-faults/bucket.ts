import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import { Client } from "minio";
import type { S3Address } from "../../../src/audio/store/s3-address.ts";
import { publicUrlPath } from "../../../src/domain/synthesis/recipe.ts";
import { pollTimeoutMs } from "../../support/processes.ts";
import type { Outcome } from "./steady-load.ts";

/**
 * Reads from the server without the proxy. Resolves when the bucket contains every delivered
 * object. Fails after `pollTimeoutMs`.
 */
export const expectKept = async (
  outcomes: readonly Outcome[],
  { bucket, endpoint, tls, ...rest }: S3Address,
): Promise<void> => {
  const client = new Client({ ...rest, endPoint: endpoint, useSSL: tls });
  const served = new Map(
    outcomes.flatMap(({ status, object, bytes }) => (status === 200 && bytes ? [[object, bytes]] : [])),
  );
  for (const end = Date.now() + pollTimeoutMs; ; await delay(200)) {
    const missing = new Set(served.keys());
    for await (const { name } of client.listObjectsV2(bucket, "public/", true))
      missing.delete(publicUrlPath(name).slice(1));
    if (missing.size === 0) break;
    expect(Date.now(), `${missing.size} objects are not in the bucket`).to.be.below(end);
  }
  for (const [name, bytes] of served) {
    const sum = createHash("sha256");
    for await (const chunk of await client.getObject(bucket, name.replace(/^audio/, "public")))
      sum.update(chunk);
    expect(sum.digest("hex"), name).to.equal(bytes);
  }
};
