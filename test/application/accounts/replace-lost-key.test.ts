import { randomBytes, randomUUID } from "node:crypto";
import { expect } from "chai";
import {
  type CredentialsCipher,
  createCredentialsCipher,
} from "../../../src/application/accounts/credentials-cipher.ts";
import { createDataKeys } from "../../../src/application/accounts/data-keys.ts";
import { encryptWebsites } from "../../../src/application/accounts/encrypt-websites.ts";
import { obtainNamingKey } from "../../../src/application/accounts/naming-key.ts";
import { replaceLostKey } from "../../../src/application/accounts/replace-lost-key.ts";
import { readAdminViews } from "../../../src/application/admin/views.ts";
import { createExecuteCommand } from "../../../src/application/execute-command.ts";
import { WebhooksService } from "../../../src/application/webhooks/webhooks.ts";
import {
  LossRefused,
  masterKeyDecider,
  masterKeyStream,
  objectToLoss,
  recognizeMasterKey,
} from "../../../src/domain/accounts/master-key.ts";
import { websiteStream } from "../../../src/domain/accounts/website.ts";
import { createCommandHandler } from "../../../src/eventstore/command-handler.ts";
import type { EventStore } from "../../../src/eventstore/event-store.ts";
import { collect } from "../../support/collect.ts";
import { duringTest } from "../../support/during.ts";
import { createManualTime, type ManualTime } from "../../support/manual-time.ts";
import { rejection } from "../../support/rejection.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";

const cli = { actor: "cli" };
const at = "2026-11-28T12:00:00.000Z";
const clock = () => Date.parse(at);

const cipherOf = (byte: number): CredentialsCipher =>
  createCredentialsCipher({ keys: [Buffer.alloc(32, byte)], random: randomBytes });
const [old, next, third] = [cipherOf(1), cipherOf(2), cipherOf(3)];

describe("the replacement of a lost master key", () => {
  const temporary = duringTest(openTemporaryStore);

  const execute = (store: EventStore) =>
    createExecuteCommand({
      handler: createCommandHandler({ store }),
      runner: { waitForPosition: async () => {} },
    });
  const append = (stream: string, type: string, data: object) =>
    temporary.store.append(
      stream,
      [{ id: crypto.randomUUID(), type, data: { ...data, at }, metadata: cli }],
      "any",
    );
  const webhooksOf = async (cipher: CredentialsCipher) =>
    new WebhooksService({
      ...(await readAdminViews(temporary.store, { webhooks: "all", deliveries: "all" })),
      execute: execute(temporary.store),
      cipher: async () => cipher,
      refusalOf: () => undefined,
      clock,
      random: randomBytes,
    });
  const setCredentials = async (websiteId: string, engine: "gwn" | "msv", cipher: CredentialsCipher) => {
    const encrypted = cipher.encrypt("{}", { websiteId, engine });
    const data = { engine, provider: "p", voices: [], ...encrypted };
    await append(`credentials-${websiteId}`, "CredentialsSet", data);
  };
  const record = (keyIds: readonly [string, ...string[]]) =>
    execute(temporary.store)(
      masterKeyDecider,
      masterKeyStream,
      (keys) => recognizeMasterKey(keys, keyIds, at),
      cli,
    );
  const read = (stream = masterKeyStream) => collect(temporary.store.readStream(stream));
  const typesOf = async (stream?: string) => (await read(stream)).map(({ type }) => type);

  /** Runs the command with the new key, until the time for objections has passed. */
  const replace = async (
    store: EventStore = temporary.store,
    {
      keyIds = [next.keyId],
      onPoll = async () => {},
      time = createManualTime(),
    }: {
      readonly keyIds?: readonly string[];
      readonly onPoll?: () => Promise<void>;
      readonly time?: ManualTime;
    } = {},
  ) => {
    const views = await readAdminViews(temporary.store, { credentials: "all", webhooks: "all" });
    const polled = {
      now: time.now,
      after: (ms: number, run: () => void) => {
        const cancel = time.after(ms, run);
        void onPoll().then(() => time.advance(ms));
        return cancel;
      },
    };
    const obtainCipher = async () => next;
    const dataKeys = createDataKeys({ store, cipher: obtainCipher, random: randomBytes, clock });
    const options = { ...views, dataKeys, execute: execute(store), keyIds, obtainCipher };
    return await replaceLostKey(
      { ...options, random: randomBytes, clock, time: polled },
      "the disk failed",
      cli,
    );
  };

  beforeEach(async () => {
    await record([old.keyId]);
    const handler = createCommandHandler({ store: temporary.store });
    await obtainNamingKey({ handler, cipher: old, random: randomBytes, at });
    for (const [websiteId, key] of [
      ["web_1", old],
      ["web_2", next],
    ] as const) {
      const cipher = async () => key;
      const keys = createDataKeys({ store: temporary.store, cipher, random: randomBytes, clock });
      const data = { websiteId, name: "Shop", origins: ["https://shop.example"], at };
      const event = { id: randomUUID(), type: "WebsiteRegistered", data, metadata: {} };
      await encryptWebsites(temporary.store, keys).append(websiteStream(websiteId), [event], "none");
    }
    await setCredentials("web_1", "gwn", old);
    await setCredentials("web_1", "msv", next);
    await setCredentials("web_2", "gwn", old);
    await (await webhooksOf(old)).add({ url: "https://old.example/", events: ["key.suspended"] }, cli);
    await (await webhooksOf(next)).add({ url: "https://new.example/", events: ["key.suspended"] }, cli);
  });

  it("records who replaced which key and why, and removes and lists what only that key decrypts", async () => {
    const replaced = await replace();
    expect(replaced).to.deep.include({ lostKeyId: old.keyId, keyId: next.keyId, hasNewNamingKey: true });
    expect(replaced.removedCredentials).to.deep.equal([
      { websiteId: "web_1", engine: "gwn" },
      { websiteId: "web_2", engine: "gwn" },
    ]);
    expect(replaced.lostNames).to.deep.equal(["web_1"]);
    expect(replaced.removedWebhooks.map(({ url }) => url)).to.deep.equal(["https://old.example/"]);
    expect((await webhooksOf(next)).list().map(({ url }) => url)).to.deep.equal(["https://new.example/"]);
    expect(await typesOf("credentials-web_1")).to.deep.equal([
      ...["CredentialsSet", "CredentialsSet", "CredentialsRemoved"],
    ]);
    const events = await read();
    expect(events.slice(2).map(({ type }) => type)).to.deep.equal([
      "MasterKeyLossReported",
      ...["MasterKeyRecorded", "MasterKeyReplaced", "NamingKeyCreated"],
    ]);
    const event = events.find(({ type }) => type === "MasterKeyReplaced");
    expect(event?.metadata).to.include({ actor: "cli" });
    expect(event?.data).to.deep.include({
      ...{ lostKeyId: old.keyId, keyId: next.keyId, reason: "the disk failed", at },
    });
  });

  it("keeps a webhook whose current secret the new key decrypts, although the former one is lost", async () => {
    const [{ webhookId } = { webhookId: "" }] = (await webhooksOf(old)).list();
    await (await webhooksOf(next)).rotateSecret(webhookId, cli);
    expect((await replace()).removedWebhooks).to.deep.equal([]);
    expect((await webhooksOf(next)).list()).to.have.lengthOf(2);
  });

  it("has nothing more to do when it is repeated, and reports the same keys", async () => {
    await replace();
    const events = await typesOf();
    const repeated = await replace();
    expect(repeated).to.deep.include({ lostKeyId: old.keyId, keyId: next.keyId, hasNewNamingKey: true });
    const { removedCredentials, removedWebhooks, lostNames } = repeated;
    expect([...removedCredentials, ...removedWebhooks, ...lostNames]).to.deep.equal([]);
    expect(await typesOf()).to.deep.equal(events);
  });

  it("replaces nothing if another command with the same new key was faster", async () => {
    await replace();
    const { lostKeyId, keyId } = await replace(temporary.store, { keyIds: [] });
    expect({ lostKeyId, keyId }).to.deep.equal({ lostKeyId: old.keyId, keyId: next.keyId });
    expect((await typesOf()).filter((type) => type === "MasterKeyReplaced")).to.have.lengthOf(1);
  });

  it("is completed by another run, wherever the first one ended", async () => {
    let appends = 0;
    const counted: EventStore = {
      ...temporary.store,
      append: async (...append) => {
        appends += 1;
        if (appends > allowed) throw new Error("the process was killed");
        return await temporary.store.append(...append);
      },
    };
    let allowed = 0;
    let runs = 0;
    for (let isDone = false; !isDone; allowed++) {
      appends = 0;
      isDone = await replace(counted).then(
        () => true,
        () => false,
      );
      runs += 1;
    }
    expect(runs).to.be.above(2);
    const types = await typesOf();
    expect(types.filter((type) => type === "MasterKeyReplaced")).to.have.lengthOf(1);
    expect(types.filter((type) => type === "NamingKeyCreated")).to.have.lengthOf(2);
    for (const website of ["web_1", "web_2"]) {
      const removed = (await typesOf(`credentials-${website}`)).filter(
        (type) => type === "CredentialsRemoved",
      );
      expect(removed, website).to.have.lengthOf(1);
    }
    expect((await webhooksOf(next)).list()).to.have.lengthOf(1);
  });

  it("is refused while an instance has the key, whenever that instance objects", async () => {
    let polls = 0;
    const object = async () => {
      polls += 1;
      if (polls !== 3) return;
      await execute(temporary.store)(
        masterKeyDecider,
        masterKeyStream,
        ({ loss, ...keys }) =>
          loss ? objectToLoss({ ...keys, loss }, { ...loss, instance: "i-1", at }) : [],
        cli,
      );
    };
    const error = await rejection(replace(temporary.store, { onPoll: object }));
    expect(error)
      .to.be.instanceOf(LossRefused)
      .with.property("message")
      .that.includes("not lost: the running instance i-1 has it");
    expect(await typesOf()).not.to.include("MasterKeyReplaced");
    expect(await typesOf("credentials-web_1")).not.to.include("CredentialsRemoved");
  });

  it("is refused if the command has the key, and if another command reports the loss", async () => {
    expect(await rejection(replace(temporary.store, { keyIds: [next.keyId, old.keyId] }))).to.be.instanceOf(
      LossRefused,
    );
    expect(await typesOf()).not.to.include("MasterKeyLossReported");
    let isReported = false;
    const report = async () => {
      if (isReported) return;
      isReported = true;
      await append(masterKeyStream, "MasterKeyLossReported", { reportId: "other", keyId: old.keyId });
    };
    expect(await rejection(replace(temporary.store, { onPoll: report })))
      .to.be.instanceOf(LossRefused)
      .with.property("message")
      .that.includes("Repeat");
  });

  it("is refused for a key that replaced a lost one and is not lost itself", async () => {
    await replace();
    expect(await rejection(replace(temporary.store, { keyIds: [third.keyId, next.keyId] }))).to.be.instanceOf(
      LossRefused,
    );
  });
});
