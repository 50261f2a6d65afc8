import { openCredentialed, operator } from "./credentialed.ts";

/** A process that sets the credentials it reads from standard input, as another instance on the same log would. */
const [, , folder = "", website = ""] = process.argv;
const apiKey = Buffer.concat(await process.stdin.toArray()).toString();
const instance = await openCredentialed({ folder });
await instance.keeper.set(website, "gwn", { apiKey }, operator);
await instance.close();
