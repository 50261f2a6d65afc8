import { execFile, spawn } from "node:child_process";
import { getEventListeners } from "node:events";
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { expect } from "chai";
import { EventStoreUnavailable } from "../../../src/eventstore/event-store.ts";
import { openEventStoreDB } from "../../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import { event, read, rejectionOf } from "../../contracts/event-store/events.ts";
import { fixturePath, withTemporaryFolder } from "../../support/child-process.ts";
import { runCli } from "../../support/cli-process.ts";
import { startEventStoreDBNode } from "../../support/eventstoredb-node/node.ts";

const run = promisify(execFile);

/** A self-signed certificate for localhost. */
const makeCertificate = async (folder: string, isExpired = false) => {
  const [key, certificate] = [`${folder}/key.pem`, `${folder}/certificate.pem`];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
  await run("openssl", [
    "req",
    "-x509",
    "-nodes",
    "-days",
    "1",
    ...curve,
    ...subject,
    "-keyout",
    key,
    "-out",
    certificate,
  ]);
  const yesterday = ["-in", certificate, "-signkey", key, "-days", "-1", "-out", certificate];
  if (isExpired) await run("openssl", ["x509", ...yesterday]);
  return { file: certificate, key: await readFile(key), certificate: await readFile(certificate) };
};

describe("the connection to EventStoreDB", () => {
  it("uses TLS with the authority and the credentials of the connection string", () =>
    withTemporaryFolder(async (folder) => {
      const tls = await makeCertificate(folder);
      const node = await startEventStoreDBNode({ tls, credentials: "ops:s3cret" });
      const urlOf = (credentials: string, authority = `&tlsCAFile=${encodeURIComponent(tls.file)}`) =>
        `esdb://${credentials}@localhost:${node.port}?tls=true${authority}`;
      const store = await openEventStoreDB({ url: urlOf("ops:s3cret") });
      await store.append("s", [event()], "none");
      expect(await read(store, "s")).to.have.length(1);
      await store.close();

      const refused = await rejectionOf(() => openEventStoreDB({ url: urlOf("ops:wr0ng") }));
      expect(refused).to.be.instanceOf(EventStoreUnavailable);
      expect((refused as Error).message).to.contain("refuses the credentials");
      await node.close();
    }));

  for (const [problem, words, host, isTrusted] of [
    ["self-signed", "self-signed certificate", "localhost", false],
    ["for another host", "it is for another host", "127.0.0.1", true],
    ["expired", "certificate has expired", "localhost", true],
  ] as const) {
    for (const scheme of ["esdb", "esdb+discover"]) {
      it(`reports a certificate that is ${problem}, for ${scheme}`, () =>
        withTemporaryFolder(async (folder) => {
          const tls = await makeCertificate(folder, problem === "expired");
          const node = await startEventStoreDBNode({ tls });
          const authority = isTrusted ? `&tlsCAFile=${encodeURIComponent(tls.file)}` : "";
          const options = `tls=true&maxDiscoverAttempts=1&discoveryInterval=1${authority}`;
          const url = `${scheme}://ops:s3cret@${host}:${node.port}?${options}`;
          const error = (await rejectionOf(() => openEventStoreDB({ url, connectTimeoutMs: 0 }))) as Error;
          await node.close();
          expect(error).to.be.instanceOf(EventStoreUnavailable);
          expect(error.message).to.equal(`the event store's TLS certificate is refused: ${words}`);
        }));
    }
  }

  it("reports a server that expects TLS, for tls=false, and one that does not use it", () =>
    withTemporaryFolder(async (folder) => {
      const secure = await startEventStoreDBNode({ tls: await makeCertificate(folder) });
      const plain = await startEventStoreDBNode();
      const failure = async (port: number, tls: boolean): Promise<string> => {
        const options = `tls=${tls}&maxDiscoverAttempts=1&discoveryInterval=1`;
        const url = `esdb://ops:s3cret@127.0.0.1:${port}?${options}`;
        const error = await rejectionOf(() => openEventStoreDB({ url, connectTimeoutMs: 0 }));
        expect(error).to.be.instanceOf(EventStoreUnavailable);
        return (error as Error).message;
      };
      expect(await failure(secure.port, false)).to.equal("the event store expects TLS: remove tls=false");
      expect(await failure(plain.port, true)).to.equal("the event store does not use TLS: add tls=false");
      await Promise.all([secure.close(), plain.close()]);
    }));

  it("prints one line for an IP address with TLS, without the warning DEP0123", () =>
    withTemporaryFolder(async (folder) => {
      const node = await startEventStoreDBNode({ tls: await makeCertificate(folder) });
      const url = `esdb://127.0.0.1:${node.port}?maxDiscoverAttempts=1&discoveryInterval=1`;
      for (const args of [
        ["projections", "status"],
        ["website", "list"],
      ]) {
        const { exitCode, stderr } = await runCli(args, { EVENT_STORE: url, DATA_DIR: folder });
        expect(stderr).to.match(/^error: .*certificate is refused: .*\n$/);
        expect(exitCode).to.equal(1);
      }
      await node.close();
    }));

  it("reaches the leader that a cluster node or a DNS name announces", async () => {
    const leader = await startEventStoreDBNode();
    const seed = await startEventStoreDBNode({ leader: () => ({ host: "127.0.0.1", port: leader.port }) });
    for (const url of [
      `esdb+discover://127.0.0.1:${seed.port}?tls=false`,
      `esdb://127.0.0.1:1,127.0.0.1:${seed.port}?tls=false`,
    ]) {
      const store = await openEventStoreDB({ url });
      await store.append("s", [event()], "any");
      await store.close();
    }
    const there = await openEventStoreDB({ url: leader.url });
    expect(await read(there, "s")).to.have.length(2);
    await there.close();
    await Promise.all([seed.close(), leader.close()]);
  });

  for (const url of [
    "kurrentdb://u:s3cret@127.0.0.1:2113",
    "esdb://u:s3cret@",
    "esdb://u:s3cret@127.0.0.1:port",
    "esdb://u:s3cret@127.0.0.1:2113?tls=maybe",
    "esdb://u:s3cret@127.0.0.1:2113?tlsVerifyCert=false",
    "esdb://u:s3cret@127.0.0.1:2113?throwOnAppendFailure=false",
    "esdb://u:s3cret@127.0.0.1:2113?keepAliveInterval=1",
    "esdb://u:s3cret@127.0.0.1:2113?tls=false?throwOnAppendFailure=false",
    "esdb://u:s3cret@127.0.0.1:2113?tlsCAFile=/not/there",
  ]) {
    it(`refuses an invalid string in one line, without its contents: ${url}`, async () => {
      const error = await rejectionOf(() => openEventStoreDB({ url }));
      expect(error).to.be.instanceOf(TypeError);
      expect((error as Error).message).to.match(/^.{10,100}$/);
      expect(`${(error as Error).message}${(error as Error).cause}`).not.to.contain("s3cret");
    });
  }

  it("reports an unreachable server without its address", async () => {
    const url = "esdb://127.0.0.1:1?tls=false";
    const error = (await rejectionOf(() => openEventStoreDB({ url, connectTimeoutMs: 0 }))) as Error;
    expect(error).to.be.instanceOf(EventStoreUnavailable);
    expect(`${error.message} ${error.cause}`).not.to.contain("127.0.0.1");
  });

  it("refuses writes if opened for reading", async () => {
    const node = await startEventStoreDBNode();
    const store = await openEventStoreDB({ url: node.url, readOnly: true });
    expect(await rejectionOf(() => store.append("s", [event()], "any"))).to.be.instanceOf(TypeError);
    expect(await rejectionOf(() => store.setRetention("s", { maxCount: 1 }))).to.be.instanceOf(TypeError);
    expect(await read(store, "s")).to.deep.equal([]);
    await store.close();
    await node.close();
  });

  it("removes its listeners from a read's signal, at the end and when the consumer leaves", async () => {
    const node = await startEventStoreDBNode();
    const store = await openEventStoreDB({ url: node.url });
    await store.append("s", [event(), event()], "none");
    const { signal } = new AbortController();
    for await (const _ of store.readStream("s", { signal })) break;
    for await (const _ of store.readStream("s", { signal }));
    expect(getEventListeners(signal, "abort")).to.deep.equal([]);
    await store.close();
    await node.close();
  });

  it("keeps no process alive once closed, and prints nothing", async () => {
    const node = await startEventStoreDBNode();
    const child = spawn(process.execPath, [fixturePath("fill-counter"), node.url, "counter", "20"]);
    const said = await Promise.all([text(child.stdout), text(child.stderr)]);
    expect(said).to.deep.equal(["20\n", ""]);
    await node.close();
  });
});
