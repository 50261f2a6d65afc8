/**
 * Restricts the streams of a server that is dedicated to Voxledger to its users, and lets them read
 * $all:
 *
 *     EVENT_STORE='esdb://admin:…@host:2113' node infra/eventstoredb/restrict-access.ts voxledger
 *
 * The connection string names a user of $admins. The arguments are the login names of the users of
 * all installations.
 */
import { EventStoreDBClient, jsonEvent } from "@eventstore/db-client";

const users = process.argv.slice(2);
const url = process.env.EVENT_STORE;
if (users.length === 0 || !url) {
  throw new Error("usage: EVENT_STORE=esdb://… node restrict-access.ts LOGIN_NAME…");
}

const client = EventStoreDBClient.connectionString(url);
const admins = "$admins";
const data = {
  $userStreamAcl: { $r: users, $w: users, $d: admins, $mr: users, $mw: users },
  $systemStreamAcl: { $r: admins, $w: admins, $d: admins, $mr: admins, $mw: admins },
};
await client.appendToStream("$settings", jsonEvent({ type: "$settings", data }));
await client.setStreamMetadata("$all", { acl: { readRoles: [admins, ...users] } });
await client.dispose();
