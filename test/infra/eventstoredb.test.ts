import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { EventStoreDBClient } from "@eventstore/db-client";
import { expect } from "chai";
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
