import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { inspect, promisify } from "node:util";
import { expect } from "chai";
import { Client } from "minio";
import {
  type AudioStore,
  AudioStoreUnavailable,
  DamagedAudio,
} from "../../../src/audio/store/audio-store.ts";
import type { S3Failure } from "../../../src/audio/store/s3/failure.ts";
import { openS3AudioStore } from "../../../src/audio/store/s3/s3-audio-store.ts";
import type { S3Address } from "../../../src/audio/store/s3-address.ts";
import { audioStoreContract } from "../../contracts/audio-store.ts";
import { collect } from "../../support/collect.ts";
import { startMinio } from "../../support/minio.ts";
import type { S3Server } from "../../support/s3-server.ts";
import { openTcpProxy } from "../../support/tcp-proxy.ts";
import { startVersitygw } from "../../support/versitygw.ts";
import { nameOf, objectOf, soundOf } from "../pipeline/sounds.ts";

for (const [kind, start] of [
  ["MinIO", startMinio],
  ["versitygw", startVersitygw],
] as const) {
  describe(`on ${kind}`, () => {
    let server: S3Server;
    before(async () => {
      server = await start();
    });
    after(() => server.stop());

    audioStoreContract(kind, async () => {
      const line = await openTcpProxy(server);
      const place = server.location(`v-${randomUUID()}`, { port: line.port });
      const store = await openS3AudioStore(place);
      return {
        store,
        again: () => openS3AudioStore(place),
        breakDown: line.down,
        end: async () => {
          await store.close();
          await line.close();
        },
      };
    });

    describe(`The S3 audio store on ${kind}`, () => {
      let place: S3Address;
      let store: AudioStore;
      let owner: Client;
      beforeEach(async () => {
        place = server.location(`v-${randomUUID()}`);
        store = await openS3AudioStore(place);
        owner = ownerOf(place);
      });
      afterEach(() => store.close());

      const name = nameOf(1);

      it("sends long-lived caching headers to a CDN that pulls public objects, and denies it private ones", async () => {
        const secret = name.replace("public/", "private/");
        await store.put(name, objectOf(soundOf(1)));
        await store.put(secret, objectOf(soundOf(2)));
        const policy = await readFile(
          join(import.meta.dirname, "../../../infra/audio-bucket-policy.json"),
          "utf8",
        );
        await owner.setBucketPolicy(place.bucket, policy.replaceAll(":::voxledger/", `:::${place.bucket}/`));
        const shared = await fetch(urlOf(place, name));
        expect(shared.status).to.equal(200);
        expect(shared.headers.get("Content-Type")).to.equal("audio/mpeg");
        expect(shared.headers.get("Cache-Control")).to.equal("public, max-age=31536000, immutable");
        expect(soundOf(1).equals(Buffer.from(await shared.arrayBuffer()))).to.equal(true);
        expect((await fetch(urlOf(place, secret))).status).to.equal(403);
      });

      it("denies reads without credentials unless the operator allows them", async () => {
        await store.put(name, objectOf(soundOf(1)));
        expect((await fetch(urlOf(place, name))).status).to.equal(403);
      });

      for (const [ext, type] of [
        ["mp3", "audio/mpeg"],
        ["ogg", "audio/ogg"],
        ["wav", "audio/wav"],
      ] as const) {
        it(`stores ${ext} as ${type}, and private objects as not cacheable`, async () => {
          const secret = name.replace("public/", "private/").replace("mp3", ext);
          await store.put(secret, objectOf(soundOf(1)));
          const { metaData } = await owner.statObject(place.bucket, secret);
          expect(metaData["content-type"]).to.equal(type);
          expect(metaData["cache-control"]).to.equal("private, no-store");
        });
      }

      it("does not overwrite an existing object or its timestamp, even one too large to send before the refusal", async () => {
        const large = randomBytes(8 * 1024 * 1024);
        await store.put(name, objectOf(large));
        const before = await owner.statObject(place.bucket, name);
        await store.put(name, objectOf(randomBytes(8 * 1024 * 1024)));
        await store.put(name, objectOf(large));
        const { etag, lastModified } = await owner.statObject(place.bucket, name);
        expect({ etag, lastModified }).to.deep.equal({
          etag: before.etag,
          lastModified: before.lastModified,
        });
      });

      it("accepts exactly one of 64 overlapping conditional puts", async () => {
        const rivals = Array.from({ length: 64 }, (_, index) => Buffer.alloc(200_000, index + 1));
        const url = await owner.presignedPutObject(place.bucket, name);
        const begun = await Promise.all(rivals.map((bytes) => beginPutIfAbsent(url, bytes)));
        const outcomes = await Promise.all(begun.map((finish) => finish()));
        expect(outcomes.toSorted()).to.deep.equal([...Array(63).fill("refused"), "stored"]);
        const winner = rivals[outcomes.indexOf("stored")] as Buffer;
        const kept = await collect(await owner.getObject(place.bucket, name));
        expect(winner.equals(Buffer.concat(kept))).to.equal(true);
      });

      it("stores nothing except its objects", async () => {
        await Promise.all([store.put(name, objectOf(soundOf(1))), store.ping(), store.ping()]);
        await store.ping();
        expect(await keysIn(owner, place.bucket)).to.deep.equal([name]);
      });

      it("reports foreign objects as damaged and replaces them: an empty one, one without a length, one of more than 64 MiB", async () => {
        for (const bytes of [Buffer.alloc(0), soundOf(1), Buffer.alloc(64 * 1024 * 1024 + 1)]) {
          await owner.putObject(place.bucket, name, bytes);
          expect(await store.get(name).catch((error: unknown) => error)).to.be.instanceOf(DamagedAudio);
          await store.put(name, objectOf(soundOf(1)));
          expect(soundOf(1).equals((await store.get(name))?.bytes as Buffer)).to.equal(true);
        }
      });

      it("recreates the bucket after its removal, and has no objects until then", async () => {
        await owner.removeBucket(place.bucket);
        expect(await store.get(name)).to.equal(undefined);
        await Promise.all([1, 2, 3, 4].map((index) => store.put(nameOf(index), objectOf(soundOf(index)))));
        expect(await keysIn(owner, place.bucket)).to.have.members([1, 2, 3, 4].map(nameOf));
      });

      for (const [what, changes, code] of [
        ["key", { accessKey: "somebody-else" }, /^(InvalidAccessKeyId|XAdminUserNotFound)$/],
        ["secret", { secretKey: "a-wrong-secret-of-length" }, /^SignatureDoesNotMatch$/],
      ] as const) {
        it(`cannot be opened with a wrong ${what}, and reports only the server's error code`, async () => {
          const error = await openS3AudioStore({ ...place, ...changes }).catch((refusal: Error) => refusal);
          const { message, cause } = error as Error & { cause: S3Failure };
          expect(error).to.be.instanceOf(AudioStoreUnavailable);
          expect(cause.code).to.match(code);
          expect(message).to.equal(`The audio store cannot be opened: ${cause.code}.`);
          expect(inspect(error)).not.to.match(/somebody-else|voxledger-test|secret|ignature=/);
        });
      }
    });
  });
}

const ownerOf = ({ endpoint, tls, bucket: _, ...place }: S3Address): Client =>
  new Client({ ...place, endPoint: endpoint, useSSL: tls });

type Outcome = "stored" | "refused" | `status ${number}`;

/**
 * Sends half of the object on a separate connection. The returned function sends the rest. A server
 * that refuses before it has read everything (versitygw) may hang up before its 412 is received.
 */
const beginPutIfAbsent = async (url: string, bytes: Buffer): Promise<() => Promise<Outcome>> => {
  const headers = { "If-None-Match": "*", "Content-Length": bytes.length };
  const put = request(url, { method: "PUT", headers, agent: false });
  const half = bytes.length / 2;
  await promisify(put.write.bind(put) as Write)(bytes.subarray(0, half));
  const response = once(put, "response").then(
    ([response]): Outcome => {
      response.resume();
      if (response.statusCode === 200) return "stored";
      return response.statusCode === 412 ? "refused" : `status ${response.statusCode}`;
    },
    (error): Outcome => {
      if (!["ECONNRESET", "EPIPE"].includes(error.code)) throw error;
      return "refused";
    },
  );
  return () => {
    put.end(bytes.subarray(half));
    return response;
  };
};
type Write = (chunk: Buffer, done: (error?: Error | null) => void) => void;

const urlOf = ({ port, bucket }: S3Address, name: string): string =>
  `http://127.0.0.1:${port}/${bucket}/${name}`;

const keysIn = async (owner: Client, bucket: string): Promise<string[]> => {
  const keys: string[] = [];
  for await (const { name } of owner.listObjectsV2(bucket, "", true)) keys.push(name);
  return keys;
};
