import { strict as assert } from "node:assert";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCli } from "../../support/cli-process.ts";
import { admin, bytesOf, type Credentials, registerWebsite, synthesize } from "../../support/client.ts";
import { type RunningService, startInstance } from "../../support/instance.ts";
import { until } from "../../support/processes.ts";
import { serveWebhookReceiver } from "../../support/webhook-receiver.ts";
import { openEventStoreDBDrill, openSqliteDrill } from "./stores.ts";

const stores = { sqlite: openSqliteDrill, eventstoredb: openEventStoreDBDrill };
export type DrilledStore = keyof typeof stores;

const spoken = "The train to Oxford leaves at nine.";
const spokenBeforeLoss = "Its file is lost.";

/**
 * Plays a backup of a running service, the loss of everything and the restore to the end. `onStep`
 * is told what is done next.
 * @throws {AssertionError} if anything differs after the restore
 */
export const runRestoreDrill = async (
  store: DrilledStore,
  onStep: (step: string) => void = () => {},
): Promise<void> => {
  await using opened = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "voxledger-drill-"));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const receiver = await serveWebhookReceiver();
  opened.defer(receiver.close);
  const drilled = await stores[store](folder);
  opened.defer(drilled.close);
  const { env } = drilled;
  const { DATA_DIR: dataDir = "" } = env;
  let service: RunningService | undefined;
  opened.defer(async () => service?.kill());

  const start = async (): Promise<string> => {
    service = await startInstance(dataDir, { ...env, ALLOW_LOOPBACK_UPSTREAMS: "true" });
    return service.url;
  };
  const voxledger = (...args: string[]) => runCli(args, env);
  const succeed = async (...args: string[]): Promise<string> => {
    const { exitCode, stdout, stderr } = await voxledger(...args);
    assert.equal(exitCode, 0, `voxledger ${args.join(" ")}: ${stderr}${stdout}`);
    return stdout;
  };
  /** Seals the log, and keeps the seal in a file. */
  const keepSeal = async (name: string): Promise<string> => {
    await succeed("audit", "export", join(folder, `${name}.ndjson`));
    const [last = ""] = (await succeed("audit", "--type", "Sealed")).trimEnd().split("\n").slice(-1);
    const file = join(folder, `${name}.note`);
    await writeFile(file, JSON.parse(last).data.note);
    return file;
  };
  const objectAt = (address: string): string => {
    const file = address.replace("/audio/", "");
    return join(dataDir, "audio/public", file.slice(0, 2), file.slice(2, 4), file);
  };
  const passphrase = join(folder, "passphrase");
  await writeFile(passphrase, "correct horse battery staple\n");
  const backup = join(folder, "backup");

  onStep("a service runs, and serves audio");
  const url = await start();
  const key = await registerWebsite(url);
  await admin(url, "POST", "/webhooks", { url: receiver.url });
  const before = await speak(url, key, spoken);
  const bytes = await bytesOf(before);
  const address = addressOf(before);
  const lostAddress = addressOf(await speak(url, key, spokenBeforeLoss));
  for (const one of [address, lostAddress])
    await until("the audio is stored", () => existsSync(objectAt(one)));
  const earlierSeal = await keepSeal("earlier");

  onStep("it is backed up while it serves");
  let isBackedUp = false;
  const serve = async (): Promise<void> => {
    let served = 0;
    do await speak(url, key, `This is text ${served++}.`);
    while (!isBackedUp);
  };
  const serving = serve();
  const taken = await succeed("--json", "backup", backup, "--with-key", "--passphrase-file", passphrase);
  await drilled.backUpServer();
  isBackedUp = true;
  await serving;
  assert.deepEqual(await modesBelow(backup), new Set(["directory 700", "file 600"]));
  const { position } = JSON.parse(taken).manifest;
  const usage = await usageAsOf(url, key, position);

  onStep("more is served, and everything is lost");
  await speak(url, key, "This is lost.");
  const laterSeal = await keepSeal("later");
  await service?.kill();
  await drilled.lose();

  onStep("the backup is restored");
  await drilled.restoreServer();
  const options = [...drilled.restoreOptions, "--passphrase-file", passphrase];
  const restored = await voxledger("restore", backup, ...options);
  assert.equal(restored.exitCode, 2, `${restored.stderr}${restored.stdout}`);
  assert.match(restored.stdout, /^webhooks +1 paused: /m);
  assert.match(restored.stdout, /^verified +the seals are signed with the log's key/m);
  await rm(objectAt(lostAddress));

  onStep("the service runs again");
  const again = await start();
  const response = await speak(again, key, spoken);
  assert.equal(addressOf(response), address);
  assert.equal(response.headers.get("SVC-Cached"), "store");
  assert.ok((await bytesOf(response)).equals(bytes), "the audio is the same");
  assert.equal((await fetch(again + lostAddress)).status, 404);
  const remade = await speak(again, key, spokenBeforeLoss);
  assert.equal(remade.headers.get("SVC-Cached"), "miss");
  assert.equal(addressOf(remade), lostAddress);
  assert.equal((await fetch(again + lostAddress)).status, 200);
  assert.deepEqual(await usageAsOf(again, key, position), usage);
  const webhooks = await admin(again, "GET", "/webhooks");
  assert.ok(JSON.stringify(webhooks.body).includes('"by":"restore"'), "the webhooks are paused");

  onStep("auditors see what is missing");
  const later = await voxledger("audit", "verify", "--seal", laterSeal);
  assert.equal(later.exitCode, 2, later.stderr);
  assert.match(later.stdout, /^restored from a backup at position \d+; \d+ events are missing that /);
  const earlier = await voxledger("audit", "verify", "--seal", earlierSeal);
  assert.equal(earlier.exitCode, 2, earlier.stderr);
  assert.match(earlier.stdout, /^genuine, with remarks: /);
  assert.match(earlier.stdout, /^remark: restored from a backup at position \d+ at /m);
};

const speak = async (url: string, key: Credentials, text: string): Promise<Response> => {
  const response = await synthesize(url, key, { text, lang: "en-GB" });
  assert.equal(response.status, 200, await response.clone().text());
  return response;
};

/** The permanent address of audio. */
const addressOf = (response: Response): string => response.headers.get("Content-Location") ?? "";

const usageAsOf = async (url: string, { apiKey }: Credentials, position: number): Promise<object> => {
  const month = new Date().toISOString().slice(0, 7);
  const path = `/keys/${apiKey}/usage?month=${month}&asOfPosition=${position}`;
  const { status, body } = await admin(url, "GET", path);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
};

const modesBelow = async (path: string): Promise<Set<string>> => {
  const modes = new Set<string>();
  for (const entry of await readdir(path, { recursive: true, withFileTypes: true })) {
    const { mode } = await stat(join(entry.parentPath, entry.name));
    modes.add(`${entry.isFile() ? "file" : "directory"} ${(mode & 0o777).toString(8)}`);
  }
  return modes;
};
