/**
 * Restricts the streams of a server that is dedicated to Voxledger's log to one user, and lets that user read $all:
 *
 *     EVENT_STORE='esdb://admin:…@host:2113' node infra/eventstoredb/restrict-access.ts voxledger
 *
 * The connection string names a user of $admins; the argument is the login name of the service's user.
 */
import { EventStoreDBClient, jsonEvent } from "@eventstore/db-client";

const [user] = process.argv.slice(2);
const url = process.env.EVENT_STORE;
if (!user || !url) throw new Error("usage: EVENT_STORE=esdb://… node restrict-access.ts LOGIN_NAME");

const client = EventStoreDBClient.connectionString(url);
const admins = "$admins";
const data = {
  $userStreamAcl: { $r: user, $w: user, $d: admins, $mr: user, $mw: user },
  $systemStreamAcl: { $r: admins, $w: admins, $d: admins, $mr: admins, $mw: admins },
};
await client.appendToStream("$settings", jsonEvent({ type: "$settings", data }));
await client.setStreamMetadata("$all", { acl: { readRoles: [admins, user] } });
await client.dispose();
