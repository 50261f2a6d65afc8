import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { createCredentialsCipher } from "../../../src/application/accounts/credentials-cipher.ts";
import { createDataKeys } from "../../../src/application/accounts/data-keys.ts";
import { encryptWebsites } from "../../../src/application/accounts/encrypt-websites.ts";
import { createEraseWebsite } from "../../../src/application/admin/erase-website.ts";
import { createExecuteCommand } from "../../../src/application/execute-command.ts";
import { freePlan } from "../../../src/domain/accounts/plan.ts";
import { createCommandHandler } from "../../../src/eventstore/command-handler.ts";
import {
  type EventStore,
  EventStoreUnavailable,
  type NewEvent,
} from "../../../src/eventstore/event-store.ts";
import { validatedEventStore } from "../../../src/eventstore/validated-event-store.ts";
import { collect } from "../../support/collect.ts";
import { duringTest } from "../../support/during.ts";
import { openLaggingStore } from "../../support/eventstoredb-process.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";

const at = "2026-03-01T12:00:00.000Z";
const [old, next] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)] as const;
const origins = ["https://shop.example"];

const event = (type: string, data: object): NewEvent => ({
  ...{ id: crypto.randomUUID(), type, data: { ...data, at } },
  metadata: { actor: "cli" },
});
const registered = (websiteId = "w") => event("WebsiteRegistered", { websiteId, name: "Shop", origins });

const withKeys = (store: EventStore, ...keys: [Buffer, ...Buffer[]]) => {
  const cipher = createCredentialsCipher({ keys, random: randomBytes });
  const unopened: string[] = [];
  const dataKeys = createDataKeys({
    onUnopened: (websiteId) => unopened.push(websiteId),
    store,
    cipher: async () => cipher,
    random: randomBytes,
    clock: () => Date.parse(at),
  });
  return { dataKeys, unopened, encrypted: encryptWebsites(store, dataKeys) };
};

for (const [driver, open] of [
  ["SQLite", openTemporaryStore],
  ["EventStoreDB, whose index lags", openLaggingStore],
] as const) {
  describe(`websites encrypted on ${driver}`, () => {
    const opened = duringTest(open);
    const stored = async (): Promise<string> =>
      JSON.stringify((await collect(opened.store.readStream("website-w"))).map(({ data }) => data));
    const readBy = async (store: EventStore, stream = "website-w") =>
      (await collect(store.readStream(stream))).map(({ data }) => data);

    it("are read as they were written, by other processes too, and stored without name and origins", async () => {
      const writer = withKeys(opened.store, old);
      const events = [
        registered(),
        event("OriginVerificationIssued", { hash: "h", origin: "https://new.example", expiresAt: at }),
        event("OriginVerified", { hash: "h", origin: "https://new.example" }),
        event("OriginsChanged", { origins: [...origins, "https://b.example"] }),
        event("WebsiteRenamed", { name: "Market" }),
      ];
      await writer.encrypted.append("website-w", events, "none");
      const { encrypted } = withKeys(opened.store, old);
      expect(await readBy(encrypted)).to.deep.equal(events.map(({ data }) => data));
      for await (const batch of encrypted.subscribe({ prefixes: ["website-"] })) {
        expect(batch.events.map(({ data }) => data)).to.deep.equal(
          events.slice(0, batch.events.length).map(({ data }) => data),
        );
        if (batch.caughtUp) break;
      }
      for (const text of ["Shop", "Market", "shop.example", "new.example", "b.example"])
        expect(await stored()).not.to.include(text);
    });

    it("get one key, also from processes that write at the same time", async () => {
      const processes = [1, 2, 3].map(() => withKeys(opened.store, old));
      await Promise.all(
        processes.map(({ encrypted }) => encrypted.append("website-w", [registered()], "any")),
      );
      expect(await collect(opened.store.readStream("data-key-w"))).to.have.length(1);
      const { encrypted, dataKeys } = withKeys(opened.store, old);
      for (const data of await readBy(encrypted)) expect(data).to.include({ name: "Shop" });
      expect(dataKeys.hasUnopened()).to.equal(false);
    });

    it("are read as they are stored by a process without their master key, which keeps nothing of that", async () => {
      await withKeys(opened.store, old).encrypted.append("website-w", [registered()], "none");
      const { encrypted, dataKeys, unopened } = withKeys(opened.store, next);
      for (let reads = 0; reads < 2; reads++)
        expect(JSON.stringify(await readBy(encrypted))).to.equal(await stored());
      expect(dataKeys.hasUnopened()).to.equal(true);
      expect(unopened, "reported once").to.deep.equal(["w"]);
    });

    it("can be read under a new master key once their keys are encrypted again", async () => {
      await withKeys(opened.store, old).encrypted.append("website-w", [registered()], "none");
      const both = withKeys(opened.store, next, old).dataKeys;
      const done = { reencrypted: 1, current: 0, unopened: [] };
      expect(await both.reencrypt({ actor: "cli" })).to.deep.equal(done);
      expect(await both.reencrypt({ actor: "cli" })).to.deep.equal({ ...done, reencrypted: 0, current: 1 });
      const { encrypted, dataKeys } = withKeys(opened.store, next);
      expect((await readBy(encrypted))[0]).to.include({ name: "Shop" });
      expect(await dataKeys.reencrypt({ actor: "cli" })).to.deep.equal({
        ...done,
        reencrypted: 0,
        current: 1,
      });
      const unopened = [{ dataKeyOf: "w" }];
      const other = withKeys(opened.store, Buffer.alloc(32, 3)).dataKeys;
      expect(await other.reencrypt({ actor: "cli" })).to.deep.include({
        unopened,
      });
    });

    it("are unreadable once their key is deleted, which is not encrypted again", async () => {
      const { encrypted, dataKeys } = withKeys(opened.store, old);
      await encrypted.append("website-w", [registered()], "none");
      await encrypted.append("website-w", [event("WebsiteErased", {})], 0);
      await dataKeys.erase("w");
      const reader = withKeys(opened.store, next, old);
      expect(JSON.stringify(await readBy(reader.encrypted))).to.equal(await stored());
      expect(reader.dataKeys.hasUnopened(), "nothing is missing").to.equal(false);
      expect(await reader.dataKeys.reencrypt({ actor: "cli" })).to.deep.equal({
        ...{ reencrypted: 0, current: 0, unopened: [] },
      });
    });

    it("are unreadable although a re-encryption that was interrupted has restored their key", async () => {
      const { encrypted, dataKeys } = withKeys(opened.store, old);
      await encrypted.append("website-w", [registered()], "none");
      const [{ data } = { data: {} }] = await collect(opened.store.readStream("data-key-w"));
      await encrypted.append("website-w", [event("WebsiteErased", {})], 0);
      await dataKeys.erase("w");
      await opened.store.append("data-key-w", [event("DataKeyReencrypted", data)], "any");
      const done = { reencrypted: 0, current: 0, unopened: [] };
      expect(await dataKeys.reencrypt({ actor: "cli" })).to.deep.equal(done);
      expect(await collect(opened.store.readStream("data-key-w"))).to.deep.equal([]);
    });

    it("are read by a subscription to all of them without a read of each key", async () => {
      const { encrypted } = withKeys(opened.store, old);
      for (const id of ["w", "v"]) await encrypted.append(`website-${id}`, [registered(id)], "none");
      const reads: string[] = [];
      const readStream: EventStore["readStream"] = (stream, options) => {
        reads.push(stream);
        return opened.store.readStream(stream, options);
      };
      const reader = withKeys({ ...opened.store, readStream }, old).encrypted;
      const found = [];
      for await (const { events, caughtUp } of reader.subscribe({ prefixes: ["website-"] })) {
        found.push(...events.map(({ stream, data }) => [stream, (data as { name: string }).name]));
        if (caughtUp) break;
      }
      expect(found).to.deep.equal([
        ["website-w", "Shop"],
        ["website-v", "Shop"],
      ]);
      expect(reads).to.deep.equal([]);
    });

    it("are read although another program has appended to the stream of their key", async () => {
      await withKeys(opened.store, old).encrypted.append("website-w", [registered()], "none");
      for (const data of [{}, { ciphertext: "v1.AAAA", keyId: "0" }])
        await opened.store.append("data-key-w", [event("DataKeyReencrypted", data)], "any");
      const { encrypted, dataKeys } = withKeys(opened.store, old);
      expect((await readBy(encrypted))[0]).to.include({ name: "Shop" });
      await encrypted.append("website-w", [event("OriginsChanged", { origins })], 0);
      expect(dataKeys.hasUnopened()).to.equal(false);
    });

    it("get a new key if a lost master key has encrypted theirs, which processes with the lost one do not use", async () => {
      const former = withKeys(opened.store, old);
      await former.encrypted.append("website-w", [registered()], "none");
      await former.encrypted.append("website-v", [registered("v")], "none");
      await withKeys(opened.store, next, old).dataKeys.reencrypt({ actor: "cli" });
      await former.encrypted.append("website-u", [registered("u")], "none");
      const { encrypted, dataKeys } = withKeys(opened.store, next);
      await readBy(encrypted, "website-u");
      expect(await dataKeys.replaceUnopened({ actor: "cli" })).to.deep.equal(["u"]);
      expect(await dataKeys.replaceUnopened({ actor: "cli" })).to.deep.equal([]);
      const changed = event("OriginsChanged", { origins });
      expect(
        await former.encrypted.append("website-u", [changed], 0).catch(({ message }) => message),
      ).to.equal("The data key of u cannot be opened with the master keys of this process.");
      await encrypted.append("website-u", [changed], 0);
      const reader = withKeys(opened.store, next);
      const [lost, set] = await readBy(reader.encrypted, "website-u");
      expect(JSON.stringify(lost)).not.to.include("Shop");
      expect(set).to.deep.equal(changed.data);
      expect((await readBy(reader.encrypted))[0]).to.include({ name: "Shop" });
      expect(reader.dataKeys.hasUnopened()).to.equal(false);
    });

    it("are not read in the place of another website", async () => {
      const { encrypted } = withKeys(opened.store, old);
      await encrypted.append("website-w", [registered()], "none");
      await encrypted.append("website-v", [registered("v")], "none");
      const [copied] = await collect(opened.store.readStream("website-w"));
      await opened.store.append("website-v", [event("OriginsChanged", copied?.data ?? {})], 0);
      const [, changed] = await readBy(encrypted, "website-v");
      expect(JSON.stringify(changed)).not.to.include("shop.example");
    });

    it("are erased completely if the erasure is interrupted before any append, and repeated", async () => {
      for (let appends = 0; ; appends++) {
        const id = `w${appends}`;
        const { encrypted } = withKeys(opened.store, old);
        await encrypted.append(`website-${id}`, [registered(id)], "none");
        const issued = event("KeyIssued", { apiKey: `k${appends}`, websiteId: id, plan: freePlan });
        const secret = event("SecretCreated", { secretId: "s", hash: "h" });
        await opened.store.append(`key-k${appends}`, [issued, secret], "none");
        const rules = { name: "n", version: 1, digest: "d", rules: [] };
        await opened.store.append(`lexicons-${id}`, [event("LexiconSet", rules)], "none");
        const wasInterrupted = await eraseWith(opened.store, id, appends).then(
          () => false,
          () => true,
        );
        await eraseWith(opened.store, id);
        const types = await Promise.all(
          [`website-${id}`, `key-k${appends}`, `lexicons-${id}`, `data-key-${id}`].map(async (stream) =>
            (await collect(opened.store.readStream(stream))).map(({ type }) => type),
          ),
        );
        expect(types).to.deep.equal([
          ["WebsiteRegistered", "WebsiteErased"],
          ["KeyIssued", "SecretCreated", "KeySuspended", "SecretRevoked"],
          ["LexiconSet", "LexiconRemoved"],
          [],
        ]);
        if (!wasInterrupted) return;
      }
    });
  });
}

/** Erases over a store that fails after a number of appends, as if the process had ended. */
const eraseWith = async (store: EventStore, id: string, appends = Number.POSITIVE_INFINITY) => {
  let left = appends;
  const failing: EventStore = {
    ...store,
    append: async (...append) => {
      if (left-- <= 0) throw new EventStoreUnavailable("ended");
      return await store.append(...append);
    },
  };
  const { encrypted, dataKeys } = withKeys(failing, old);
  const handler = createCommandHandler({
    store: validatedEventStore(encrypted),
    deadlineMs: appends < 9 ? 50 : 5_000,
  });
  return await createEraseWebsite({
    execute: createExecuteCommand({ handler, runner: { waitForPosition: async () => {} } }),
    store: validatedEventStore(encrypted),
    storeAsWritten: store,
    dataKeys,
    deletePrivateAudio: async () => 0,
    clock: () => Date.parse(at),
  })(id, { actor: "cli" });
};
