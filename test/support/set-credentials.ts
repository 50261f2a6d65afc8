import { openCredentialsInstance, operator } from "./credentials-instance.ts";

/**
 * A process that sets the credentials it reads from standard input, as another instance on the same
 * log would.
 */
const [, , folder = "", website = ""] = process.argv;
const apiKey = Buffer.concat(await process.stdin.toArray()).toString();
const instance = await openCredentialsInstance({ folder });
await instance.credentials.set(website, "gwn", { apiKey }, operator);
await instance.close();
