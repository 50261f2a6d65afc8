import { execFile } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { EventStoreDBClient } from "@eventstore/db-client";
import { expect } from "chai";
import { openEventStoreDB } from "../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import { readLog } from "../../src/eventstore/follow-events.ts";
import { event } from "../contracts/event-store/events.ts";
import { collect } from "../support/collect.ts";
import { startEventStoreDBNode } from "../support/eventstoredb-node/node.ts";

const script = fileURLToPath(new URL("../../infra/eventstoredb/restrict-access.ts", import.meta.url));

describe("restrict-access.ts of infra/eventstoredb", () => {
  it("allows only the installations' users and administrators to write streams and to read $all", async () => {
    const node = await startEventStoreDBNode();
    const env = { ...process.env, EVENT_STORE: node.url };
    await promisify(execFile)(process.execPath, [script, "voxledger", "staging"], { env });
    const client = EventStoreDBClient.connectionString(node.url);
    const settings: unknown[] = [];
    for await (const { event } of client.readStream("$settings")) settings.push(event?.data);
    const { metadata } = await client.getStreamMetadata("$all");
    await client.dispose();
    await node.close();
    const users = ["voxledger", "staging"];
    const own = { $r: users, $w: users, $d: "$admins", $mr: users, $mw: users };
    const system = { $r: "$admins", $w: "$admins", $d: "$admins", $mr: "$admins", $mw: "$admins" };
    expect(settings).to.deep.equal([{ $userStreamAcl: own, $systemStreamAcl: system }]);
    expect(metadata?.acl).to.deep.equal({ readRoles: ["$admins", ...users] });
  });
});

describe("scavenge of infra/eventstoredb", () => {
  const scavenge = fileURLToPath(new URL("../../infra/eventstoredb/scavenge", import.meta.url));
  let servers: Server[] = [];

  afterEach(async () => {
    for (const server of servers) server.close();
    servers = [];
  });

  /** A node's HTTP interface, which responds to each request with this status and text. */
  const listen = async (status: number, text: string, onRequest = (_: IncomingMessage): void => {}) => {
    const server = createServer((request, response) => {
      onRequest(request);
      request.resume().on("end", () => response.writeHead(status).end(text));
    });
    servers.push(server.listen(0, "127.0.0.1"));
    await once(server, "listening");
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const started = '{ "scavengeId": "1" }';
  const run = async (urls: readonly string[], env: Record<string, string> = {}) => {
    const options = { env: { PATH: process.env.PATH ?? "", ...env } };
    return await promisify(execFile)("sh", [scavenge, ...urls], options).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
    );
  };

  it("asks every node, with the credentials, even if one of them fails", async () => {
    const asked: (string | undefined)[] = [];
    const ask = ({ method, url, headers }: IncomingMessage): void => {
      asked.push(`${method} ${url} ${headers.authorization}`);
    };
    const [one, two] = [await listen(401, "Unauthorized", ask), await listen(200, started, ask)];
    const user = 'ops:p"a\\s$s';
    const { code, stdout, stderr } = await run([one, `${two}/`], { SCAVENGE_USER: user });
    const expected = `POST /admin/scavenge Basic ${Buffer.from(user).toString("base64")}`;
    expect(asked).to.deep.equal([expected, expected]);
    expect({ code, stdout, stderr }).to.deep.equal({
      code: 1,
      stdout: `${two}: the scavenge has begun\n`,
      stderr: `${one}: no scavenge has begun: HTTP 401\n`,
    });
  });

  it("succeeds if a scavenge is already running, and fails if the node does not respond", async () => {
    const busy = await listen(400, "Scavenge is already running");
    expect(await run([busy])).to.deep.include({
      code: 0,
      stdout: `${busy}: a scavenge is already running\n`,
    });
    const gone = await listen(200, started);
    const closed = once(servers.at(-1) as Server, "close");
    servers.pop()?.close();
    await closed;
    expect((await run([gone])).code).to.equal(1);
    expect((await run([])).code).to.equal(2);
  });

  it("repeats it after SCAVENGE_EVERY seconds", async () => {
    const folder = await mkdtemp(join(tmpdir(), "voxledger-scavenge-"));
    // A `sleep` that ends at once, and ends the script at its third call.
    const sleep = join(folder, "sleep");
    const program = `#!/bin/sh\necho "$1" >>${folder}/slept\n[ "$(wc -l <${folder}/slept)" -lt 3 ]\n`;
    await writeFile(sleep, program);
    await chmod(sleep, 0o755);
    let asked = 0;
    const url = await listen(200, started, () => {
      asked += 1;
    });
    const env = { PATH: `${folder}:${process.env.PATH}`, SCAVENGE_EVERY: "604800" };
    await run([url], env);
    await rm(folder, { recursive: true });
    expect(asked).to.equal(3);
  });

  it("frees what was trimmed and deleted, and nothing else", async () => {
    const node = await startEventStoreDBNode();
    const store = await openEventStoreDB({ url: node.url });
    await store.setRetention("rate-1", { maxCount: 1 });
    for (const stream of ["rate-1", "rate-1", "journal-1", "journal-1", "journal-2"])
      await store.append(stream, [event()], "any");
    const client = EventStoreDBClient.connectionString(node.url);
    await client.deleteStream("journal-1");
    await client.dispose();
    const streams = async () => (await collect(readLog(store))).map(({ stream }) => stream);
    expect(await streams()).to.deep.equal(["rate-1", "rate-1", "journal-1", "journal-1", "journal-2"]);
    const url = await listen(200, started, () => node.scavenge());
    expect((await run([url])).code).to.equal(0);
    // The last event of a deleted stream stays.
    expect(await streams()).to.deep.equal(["rate-1", "journal-1", "journal-2"]);
    await store.close();
    await node.close();
  });
});
