import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import { Client } from "minio";
import type { S3Address } from "../../../src/audio/store/s3-address.ts";
import { pollTimeoutMs } from "../../support/processes.ts";
import type { Outcome } from "./steady-load.ts";

/** The SHA-256 of every object in the bucket, by name, read from the server without the proxy. */
const readBucket = async ({ bucket, endpoint, tls, ...rest }: S3Address): Promise<Map<string, string>> => {
  const client = new Client({ ...rest, endPoint: endpoint, useSSL: tls });
  const found = new Map<string, string>();
  for await (const { name } of client.listObjectsV2(bucket, "audio/", true)) {
    const sum = createHash("sha256");
    for await (const chunk of await client.getObject(bucket, name)) sum.update(chunk);
    found.set(name, sum.digest("hex"));
  }
  return found;
};

/** Resolves when the bucket contains every delivered object. Fails after `pollTimeoutMs`. */
export const expectKept = async (outcomes: readonly Outcome[], place: S3Address): Promise<void> => {
  const served = new Map(
    outcomes.flatMap(({ status, object, bytes }) => (status === 200 && bytes ? [[object, bytes]] : [])),
  );
  for (const end = Date.now() + pollTimeoutMs; ; await delay(200)) {
    const kept = await readBucket(place);
    const missing = [...served.keys()].filter((name) => !kept.has(name));
    if (missing.length === 0) {
      for (const [name, bytes] of served) expect(kept.get(name), name).to.equal(bytes);
      return;
    }
    expect(Date.now(), `${missing.length} objects are not in the bucket`).to.be.below(end);
  }
};
