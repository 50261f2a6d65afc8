import { existsSync } from "node:fs";
import { readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import type { Sealed } from "../../src/domain/ledger/seals/seal.ts";
import { type RecordedEvent, readLastEvent } from "../../src/eventstore/event-store.ts";
import { openSqliteEventStore } from "../../src/eventstore/sqlite/sqlite-event-store.ts";
import { runCli } from "../support/cli-process.ts";
import { admin, bytesOf, type Credentials, registerWebsite, synthesize } from "../support/client.ts";
import { duringTest } from "../support/during.ts";
import { type RunningService, startInstance } from "../support/instance.ts";
import { until } from "../support/processes.ts";
import { temporaryFolder } from "../support/service.ts";
import { serveWebhookReceiver } from "../support/webhook-receiver.ts";

const spoken = { text: "The train to Oxford leaves at nine.", lang: "en-GB" };
const settings = { ALLOW_LOOPBACK_UPSTREAMS: "true" };

describe("A backup of a running service", () => {
  const folder = duringTest(temporaryFolder);
  const receiver = duringTest(serveWebhookReceiver);
  let service: RunningService | undefined;
  let [data, backup, passphrase]: string[] = [];
  beforeEach(async () => {
    [data, backup, passphrase] = ["data", "backup", "passphrase"].map((name) => join(folder.path, name));
    await writeFile(passphrase as string, "correct horse battery staple\n");
  });
  afterEach(() => service?.kill());

  const voxledger = (...args: string[]) => runCli(args, { DATA_DIR: data });
  const start = async (): Promise<RunningService> => {
    service = await startInstance(data as string, settings);
    return service;
  };
  const speak = async (url: string, key: Credentials, text: string): Promise<Response> => {
    const response = await synthesize(url, key, { ...spoken, text });
    expect(response.status, await response.clone().text()).to.equal(200);
    return response;
  };
  const usageAsOf = async (url: string, { apiKey }: Credentials, position: number): Promise<object> => {
    const month = new Date().toISOString().slice(0, 7);
    const { status, body } = await admin(
      url,
      "GET",
      `/keys/${apiKey}/usage?month=${month}&asOfPosition=${position}`,
    );
    expect(status, JSON.stringify(body)).to.equal(200);
    return body;
  };
  const sealAndKeep = async (name: string): Promise<string> => {
    const exported = await voxledger("audit", "export", join(folder.path, `${name}.ndjson`));
    expect(exported).to.include({ exitCode: 0, stderr: "" });
    const store = await openSqliteEventStore({ path: join(data as string, "events.db"), readOnly: true });
    const seal = (await readLastEvent(store, "seals")) as RecordedEvent;
    await store.close();
    const file = join(folder.path, `${name}.note`);
    await writeFile(file, (seal.data as Sealed).note);
    return file;
  };
  const objectAt = (address: string): string => {
    const file = address.replace("/audio/", "");
    return join(data as string, "audio/public", file.slice(0, 2), file.slice(2, 4), file);
  };
  /** The permanent address of audio, as soon as it is stored. */
  const addressOf = async (response: Response): Promise<string> => {
    const address = response.headers.get("Content-Location") ?? "";
    await until("the audio is stored", () => existsSync(objectAt(address)));
    return address;
  };
  const modesBelow = async (path: string): Promise<Set<string>> => {
    const modes = new Set<string>();
    for (const entry of await readdir(path, { recursive: true, withFileTypes: true })) {
      const { mode } = await stat(join(entry.parentPath, entry.name));
      modes.add(`${entry.isFile() ? "file" : "directory"} ${(mode & 0o777).toString(8)}`);
    }
    return modes;
  };
  const backUp = () =>
    voxledger("--json", "backup", backup as string, "--with-key", "--passphrase-file", passphrase as string);
  const restore = (...args: string[]) =>
    voxledger("restore", backup as string, "--passphrase-file", passphrase as string, ...args);

  it("restores what it had after everything is lost, and says what is missing since", async () => {
    const { url } = await start();
    const key = await registerWebsite(url);
    await admin(url, "POST", "/webhooks", { url: receiver.url });
    const before = await speak(url, key, spoken.text);
    const bytes = await bytesOf(before);
    const address = await addressOf(before);
    const lostAddress = await addressOf(await speak(url, key, "Its file is lost."));
    const earlierSeal = await sealAndKeep("earlier");

    let isBackedUp = false;
    const serve = async (): Promise<number> => {
      let served = 0;
      for (; !isBackedUp; served++) await speak(url, key, `This is text ${served}.`);
      return served;
    };
    const serving = serve();
    const taken = await backUp();
    isBackedUp = true;
    expect(await serving).to.be.above(0);
    expect(taken).to.include({ exitCode: 0, stderr: "" });
    expect(await modesBelow(backup as string)).to.deep.equal(new Set(["directory 700", "file 600"]));

    const { position } = JSON.parse(taken.stdout).manifest;
    const usage = await usageAsOf(url, key, position);
    await speak(url, key, "This is lost.");
    const laterSeal = await sealAndKeep("later");
    await service?.kill();
    await rm(data as string, { recursive: true });

    const restored = await restore();
    expect(restored).to.include({ exitCode: 2, stderr: "" });
    expect(restored.stdout).to.match(/^webhooks +1 paused: /m);
    await rm(objectAt(lostAddress));

    const again = await start();
    const response = await speak(again.url, key, spoken.text);
    expect(response.headers.get("Content-Location")).to.equal(address);
    expect(response.headers.get("SVC-Cached")).to.equal("store");
    expect((await bytesOf(response)).equals(bytes)).to.equal(true);
    expect((await fetch(again.url + lostAddress)).status).to.equal(404);
    const remade = await speak(again.url, key, "Its file is lost.");
    expect(remade.headers.get("SVC-Cached")).to.equal("miss");
    expect(remade.headers.get("Content-Location")).to.equal(lostAddress);
    expect((await fetch(again.url + lostAddress)).status).to.equal(200);
    expect(await usageAsOf(again.url, key, position)).to.deep.equal(usage);
    const { body } = await admin(again.url, "GET", "/webhooks");
    expect(JSON.stringify(body)).to.include('"by":"restore"');

    const verified = await voxledger("audit", "verify", "--seal", laterSeal);
    expect(verified).to.include({ exitCode: 2, stderr: "" });
    expect(verified.stdout).to.match(
      /^remark: restored from a backup at position \d+; \d+ events are missing that the kept seal covers$/m,
    );
    const withEarlier = await voxledger("audit", "verify", "--seal", earlierSeal);
    expect(withEarlier).to.include({ exitCode: 2, stderr: "" });
    expect(withEarlier.stdout).to.match(/^remark: restored from a backup at position \d+ at /m);
  });
});
