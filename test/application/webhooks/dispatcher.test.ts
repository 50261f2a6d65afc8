import { expect } from "chai";
import type { Deliveries } from "../../../projections/deliveries.ts";
import { keyDecider, keyStream, reinstateKey, suspendKey } from "../../../src/domain/accounts/key.ts";
import {
  deliveryDecider,
  deliveryStream,
  retryDelaysMs,
  startAttempt,
} from "../../../src/domain/webhooks/delivery.ts";
import type { EventStore } from "../../../src/eventstore/event-store.ts";
import { prefixedEventStore } from "../../../src/eventstore/prefixed-event-store.ts";
import { collect } from "../../support/collect.ts";
import { openLaggingStore } from "../../support/eventstoredb-process.ts";
import { freePort } from "../../support/free-port.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";
import { serveWebhookReceiver, verifyMessage, type WebhookReceiver } from "../../support/webhook-receiver.ts";
import { openWebhooksInstance, type WebhooksInstance } from "../../support/webhooks-instance.ts";

const operator = { actor: "admin" };
const events = ["quota.threshold_crossed", "key.suspended", "key.reinstated"] as const;
const month = "2026-11";

const stores = [
  ["SQLite", openTemporaryStore],
  ["EventStoreDB with index lag", openLaggingStore],
] as const;

for (const [name, open] of stores) {
  describe(`the delivery to webhooks on ${name}`, () => {
    let log: Awaited<ReturnType<typeof open>>;
    let tests = 0;
    let store: EventStore;
    let receiver: WebhookReceiver;
    let instance: WebhooksInstance;
    const others: WebhooksInstance[] = [];
    /** Signatures hold the time, and the verifier has the real clock: tests only advance it. */
    let advanced = 0;
    const clock = () => Date.now() + advanced;

    before(async () => {
      log = await open();
    });
    after(() => log.remove());
    beforeEach(async () => {
      advanced = 0;
      store = prefixedEventStore(log.store, `test-${++tests}`);
      receiver = await serveWebhookReceiver();
      instance = await openWebhooksInstance(store, { clock });
      await instance.issueKey("vlk_1");
    });
    afterEach(async () => {
      await Promise.all([instance, ...others.splice(0)].map((one) => one.close()));
      await receiver.close();
    });

    const openAnother = async (): Promise<WebhooksInstance> => {
      const another = await openWebhooksInstance(store, { clock });
      others.push(another);
      return another;
    };
    const add = (members: object = {}) =>
      instance.webhooks.add({ url: receiver.url, events, ...members }, operator);
    const crossed = (...thresholds: number[]) => ({
      apiKey: "vlk_1",
      month,
      crossed: thresholds.map((threshold) => ({
        threshold,
        characters: threshold,
        quota: 100,
        at: new Date(clock()).toISOString(),
      })),
    });
    const deliveriesOf = (webhookId: string, by = instance) => by.webhooks.deliveries(webhookId);
    const isEnded = (webhookId: string, by = instance) => {
      const all = deliveriesOf(webhookId, by);
      return all.length > 0 && all.every(({ status }) => status !== "pending");
    };

    it("sends a message that standardwebhooks verifies, with the id of the event", async () => {
      const { webhookId, secret } = await add();
      await instance.dispatcher.queueThresholds(crossed(50));
      await instance.dispatchUntil(() => deliveriesOf(webhookId)[0]?.status === "succeeded");
      const [message] = receiver.received;
      if (!message) throw new Error("no message was received");
      const body = verifyMessage(message, secret);
      const { messageId, data, attempts } = deliveriesOf(webhookId)[0] ?? {};
      expect(body).to.deep.include({ type: "quota.threshold_crossed", data });
      expect(data).to.deep.equal({
        apiKey: "vlk_1",
        websiteId: "web_1",
        month,
        threshold: 50,
        characters: 50,
        quota: 100,
      });
      expect(message.headers["webhook-id"]).to.equal(messageId);
      expect(attempts).to.have.length(1);
      expect(attempts?.[0]).to.include({ attempt: 1, status: 204 });
    });

    it("sends each message once, however many instances notice and dispatch it", async () => {
      const { webhookId } = await add();
      const all = [instance, await openAnother(), await openAnother()];
      await Promise.all(all.map(({ dispatcher }) => dispatcher.queueThresholds(crossed(50, 80))));
      await Promise.all(
        all.map((one) =>
          one.dispatchUntil(() => deliveriesOf(webhookId, one).length === 2 && isEnded(webhookId, one)),
        ),
      );
      for (const { dispatcher } of all) await dispatcher.queueThresholds(crossed(50, 80));
      for (const { dispatcher } of all) dispatcher.dispatch();
      expect(receiver.received.map(({ headers }) => headers["webhook-id"]).sort()).to.deep.equal(
        deliveriesOf(webhookId)
          .map(({ messageId }) => messageId)
          .sort(),
      );
    });

    it("repeats a message that was refused with the same id, after the delays of Standard Webhooks, on any instance", async () => {
      receiver.response = (_message, number) => (number < 3 ? 500 : 200);
      const { webhookId } = await add();
      await instance.dispatcher.queueThresholds(crossed(50));
      await instance.dispatchUntil(() => deliveriesOf(webhookId)[0]?.attempts[0]?.error !== undefined);
      expect(deliveriesOf(webhookId)[0]?.attempts[0]).to.deep.include({ status: 500, error: "HTTP 500" });
      await instance.untilIdle();
      instance.dispatcher.dispatch();
      expect(instance.dispatcher.active, "before the delay").to.equal(0);
      await instance.dispatcher.close(); // a restart between the attempts
      const next = await openAnother();
      advanced += (retryDelaysMs[0] ?? 0) + 1;
      await next.dispatchUntil(() => deliveriesOf(webhookId, next)[0]?.attempts[1]?.error !== undefined);
      advanced += (retryDelaysMs[1] ?? 0) + 1;
      await next.dispatchUntil(() => isEnded(webhookId, next));
      expect(deliveriesOf(webhookId, next)[0]).to.include({ status: "succeeded" });
      expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size).to.equal(1);
      expect(receiver.received).to.have.length(3);
    });

    it("repeats an attempt whose process was killed before it recorded the outcome", async () => {
      const { webhookId } = await add();
      const { messageId } = await instance.webhooks.test(webhookId, operator);
      const at = new Date(clock()).toISOString();
      const killed = await instance.handler.execute(
        deliveryDecider,
        deliveryStream(webhookId, messageId),
        (delivery) => startAttempt(delivery, at),
        {},
      );
      await instance.runner.waitForPosition(killed.position);
      instance.dispatcher.dispatch();
      expect(instance.dispatcher.active, "in the time of the attempt").to.equal(0);
      advanced += 2 * 60_000 + 1;
      await instance.dispatchUntil(() => isEnded(webhookId));
      const [delivery] = deliveriesOf(webhookId);
      expect(delivery?.attempts.map(({ attempt, status }) => [attempt, status])).to.deep.equal([
        [1, undefined],
        [2, 204],
      ]);
    });

    it("gives a message up after ten attempts, and says so", async () => {
      receiver.response = () => 503;
      const { webhookId } = await add();
      await instance.webhooks.test(webhookId, operator);
      for (let attempt = 1; attempt <= 10; attempt++) {
        await instance.dispatchUntil(
          () => deliveriesOf(webhookId)[0]?.attempts[attempt - 1]?.error !== undefined,
        );
        advanced += (retryDelaysMs[attempt - 1] ?? 0) + 1;
      }
      await instance.dispatchUntil(() => isEnded(webhookId));
      expect(deliveriesOf(webhookId)[0]).to.include({ status: "failed" });
      expect(receiver.received).to.have.length(10);
      await instance.dispatchUntil(() => instance.dispatcher.active === 0);
      expect(instance.errors.at(-1)).to.include("given up").and.to.include("HTTP 503");
    });

    it("repeats even the last attempt if a shutdown has interrupted it", async () => {
      const held = Promise.withResolvers<number>();
      receiver.response = (_message, number) => (number < 10 ? 503 : number === 10 ? held.promise : 200);
      const { webhookId } = await add();
      await instance.webhooks.test(webhookId, operator);
      for (let attempt = 1; attempt < 10; attempt++) {
        await instance.dispatchUntil(
          () => deliveriesOf(webhookId)[0]?.attempts[attempt - 1]?.error !== undefined,
        );
        await instance.untilIdle();
        advanced += (retryDelaysMs[attempt - 1] ?? 0) + 1;
      }
      instance.dispatcher.dispatch();
      await receiver.seen(10);
      await instance.dispatcher.close();
      held.resolve(200);
      const next = await openAnother();
      advanced += 2 * 60_000 + 1;
      await next.dispatchUntil(() => isEnded(webhookId, next));
      expect(deliveriesOf(webhookId, next)[0]).to.include({ status: "succeeded" });
      expect(receiver.received).to.have.length(11);
    });

    it("searches the deliveries of a webhook once for many that are due", async () => {
      let searches = 0;
      const observed = new Map<Deliveries, Deliveries>();
      const observe = (state: Deliveries): Deliveries => {
        const ownKeys = (target: object) => {
          searches++;
          return Reflect.ownKeys(target);
        };
        const known = observed.get(state) ?? {
          ...state,
          byId: new Proxy<Deliveries["byId"]>(state.byId, { ownKeys }),
        };
        observed.set(state, known);
        return known;
      };
      const another = await openWebhooksInstance(store, {
        clock,
        observe: (view) => ({
          ...view,
          get: (webhookId) => {
            const state = view.get(webhookId);
            return state && observe(state);
          },
        }),
      });
      others.push(another);
      const { webhookId } = await add();
      await Promise.all(Array.from({ length: 40 }, () => another.webhooks.test(webhookId, operator)));
      another.dispatcher.dispatch();
      while (!isEnded(webhookId, another)) await new Promise(setImmediate);
      expect(receiver.received).to.have.length(40);
      // The first, and those after the last attempts, which find nothing.
      expect(searches).to.be.at.most(5);
    });

    it("disables a webhook that responds 410, and sends nothing more", async () => {
      receiver.response = () => 410;
      const { webhookId } = await add();
      await instance.webhooks.test(webhookId, operator);
      await instance.dispatchUntil(() => isEnded(webhookId));
      expect(instance.webhooks.get(webhookId)).to.deep.include({ status: "disabled" });
      expect(instance.webhooks.get(webhookId).disabled?.by).to.equal("receiver");
      await instance.dispatcher.queueThresholds(crossed(50));
      expect(deliveriesOf(webhookId)).to.have.length(1);
      const enabled = await instance.webhooks.change(webhookId, { enabled: true }, operator);
      expect(enabled).to.not.have.property("disabled");
    });

    it("follows no redirect", async () => {
      receiver.response = () => 302;
      const { webhookId } = await add();
      await instance.webhooks.test(webhookId, operator);
      await instance.dispatchUntil(() => deliveriesOf(webhookId)[0]?.attempts[0]?.error !== undefined);
      expect(deliveriesOf(webhookId)[0]?.attempts[0]).to.deep.include({
        status: 302,
        error: "HTTP 302: redirects are not followed",
      });
      expect(receiver.received).to.have.length(1);
    });

    it("reports a server that cannot be reached, without its address or the reason", async () => {
      const { webhookId } = await add({ url: `http://127.0.0.1:${await freePort()}/` });
      await instance.webhooks.test(webhookId, operator);
      await instance.dispatchUntil(() => deliveriesOf(webhookId)[0]?.attempts[0]?.error !== undefined);
      expect(deliveriesOf(webhookId)[0]?.attempts[0]?.error).to.equal(
        "the server cannot be reached or does not respond",
      );
    });

    it("sends to an address on this machine only as long as that is allowed", async () => {
      const { webhookId } = await add();
      const strict = await openWebhooksInstance(store, { clock, allowLoopback: false });
      others.push(strict);
      await strict.webhooks.test(webhookId, operator);
      await strict.dispatchUntil(() => deliveriesOf(webhookId, strict)[0]?.attempts[0]?.error !== undefined);
      expect(deliveriesOf(webhookId, strict)[0]?.attempts[0]?.error).to.include(
        "not allowed: a loopback address",
      );
      expect(receiver.received).to.deep.equal([]);
    });

    it("sends only what a webhook has subscribed to: types, website, key, and what happened since it was added", async () => {
      const early = crossed(50);
      const [other, website, all] = [
        await add({ events: ["key.suspended"] }),
        await add({ websiteId: undefined, apiKey: "vlk_1" }),
        await add(),
      ];
      advanced += 1_000;
      await instance.dispatcher.queueThresholds({
        ...early,
        crossed: [...early.crossed, ...crossed(80).crossed],
      });
      await instance.dispatchUntil(() => isEnded(website.webhookId) && isEnded(all.webhookId));
      expect(deliveriesOf(other.webhookId)).to.deep.equal([]);
      for (const { webhookId } of [website, all])
        expect(deliveriesOf(webhookId).map(({ data }) => data.threshold)).to.deep.equal([80]);
    });

    it("reports suspensions and reinstatements of keys, once", async () => {
      const { webhookId } = await add();
      const at = () => new Date(clock()).toISOString();
      const suspension = () => ({ cause: "operator", reason: "invoice overdue", at: at() }) as const;
      await instance.handler.execute(
        keyDecider,
        keyStream("vlk_1"),
        (key) => suspendKey(key, suspension()),
        {},
      );
      await instance.handler.execute(
        keyDecider,
        keyStream("vlk_1"),
        (key) => reinstateKey(key, { reason: "paid", at: at() }),
        {},
      );
      const another = await openAnother();
      await Promise.all(
        [instance, another].map((one) =>
          one.dispatchUntil(() => deliveriesOf(webhookId, one).length === 2 && isEnded(webhookId, one)),
        ),
      );
      const sent = deliveriesOf(webhookId).map(({ type, data }) => [type, data.cause, data.reason]);
      expect(sent.sort()).to.deep.equal([
        ["key.reinstated", undefined, "paid"],
        ["key.suspended", "operator", "invoice overdue"],
      ]);
      expect(receiver.received).to.have.length(2);
    });

    it("signs with both secrets for a day after a rotation", async () => {
      const { webhookId, secret: former } = await add();
      const { secret } = await instance.webhooks.rotateSecret(webhookId, operator);
      await instance.webhooks.test(webhookId, operator);
      await instance.dispatchUntil(() => isEnded(webhookId));
      const [message] = receiver.received;
      if (!message) throw new Error("no message was received");
      for (const valid of [secret, former]) verifyMessage(message, valid);
      advanced += 25 * 60 * 60_000;
      await instance.webhooks.test(webhookId, operator);
      await instance.dispatchUntil(() => receiver.received.length === 2 && isEnded(webhookId));
      expect(receiver.received[1]?.headers["webhook-signature"]?.split(" ")).to.have.length(1);
    });

    it("signs with the current secret alone if the former one was lost with its master key", async () => {
      const { webhookId } = await add();
      const other = await openWebhooksInstance(store, { clock, masterKeys: [Buffer.alloc(32, 8)] });
      others.push(other);
      const { secret } = await other.webhooks.rotateSecret(webhookId, operator);
      await other.webhooks.test(webhookId, operator);
      await other.dispatchUntil(() => isEnded(webhookId, other));
      const [message] = receiver.received;
      if (!message) throw new Error("no message was received");
      verifyMessage(message, secret);
      expect(message.headers["webhook-signature"]?.split(" ")).to.have.length(1);
    });

    it("sends at most four messages to a webhook at once", async () => {
      const held = Promise.withResolvers<number>();
      receiver.response = () => held.promise;
      const { webhookId } = await add();
      for (let n = 0; n < 7; n++) await instance.webhooks.test(webhookId, operator);
      instance.dispatcher.dispatch();
      await receiver.seen(4);
      instance.dispatcher.dispatch();
      expect(instance.dispatcher.active).to.equal(4);
      held.resolve(200);
      await instance.dispatchUntil(() => isEnded(webhookId));
      expect(receiver.received).to.have.length(7);
    });

    it("sends to every webhook while others do not respond", async () => {
      const held = Promise.withResolvers<number>();
      const silent = await Promise.all(Array.from({ length: 8 }, () => add()));
      const { webhookId } = await add();
      receiver.response = ({ body }) => (JSON.parse(body).data.webhookId === webhookId ? 204 : held.promise);
      for (const one of silent)
        for (let n = 0; n < 4; n++) await instance.webhooks.test(one.webhookId, operator);
      instance.dispatcher.dispatch();
      await receiver.seen(32);
      await instance.webhooks.test(webhookId, operator);
      instance.dispatcher.dispatch();
      expect(instance.dispatcher.active).to.equal(33);
      await instance.dispatchUntil(() => isEnded(webhookId));
      held.resolve(200);
    });

    it("waits for the next second after the event store has refused a command", async () => {
      const { webhookId } = await add();
      await instance.webhooks.test(webhookId, operator);
      const busy = await openWebhooksInstance(store, { clock, maxPending: 0 });
      others.push(busy);
      busy.dispatcher.dispatch();
      await busy.untilIdle();
      expect(busy.errors).to.have.length(1);
      expect(receiver.received).to.deep.equal([]);
    });

    it("forgets the deliveries of a webhook that is removed", async () => {
      receiver.response = () => 500;
      const { webhookId } = await add();
      await instance.webhooks.test(webhookId, operator);
      await instance.dispatchUntil(() => deliveriesOf(webhookId)[0]?.attempts[0]?.error !== undefined);
      await instance.untilIdle();
      await instance.webhooks.remove(webhookId, operator);
      advanced += 60_000;
      instance.dispatcher.dispatch();
      expect(instance.dispatcher.active).to.equal(0);
      expect(() => deliveriesOf(webhookId)).to.throw("There is no such webhook");
    });

    it("keeps no secret in clear in any event", async () => {
      const { webhookId, secret } = await add();
      const rotated = await instance.webhooks.rotateSecret(webhookId, operator);
      await instance.webhooks.test(webhookId, operator);
      await instance.dispatchUntil(() => isEnded(webhookId));
      const streams = ["webhooks", deliveryStream(webhookId, deliveriesOf(webhookId)[0]?.messageId ?? "")];
      const log = JSON.stringify(
        await Promise.all(streams.map((stream) => collect(store.readStream(stream)))),
      );
      expect(log).to.include(webhookId);
      for (const clear of [secret, rotated.secret]) {
        expect(log).to.not.include(clear.slice(6));
        expect(instance.errors.join()).to.not.include(clear.slice(6));
      }
    });
  });
}

describe("the secrets of webhooks", () => {
  it("are encrypted again under a new master key, the former one too", async () => {
    const { store, remove } = await openTemporaryStore();
    const [oldKey, newKey] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    const before = await openWebhooksInstance(store, { masterKeys: [oldKey] });
    const { webhookId } = await before.webhooks.add({ url: "https://example.com/", events }, operator);
    await before.webhooks.rotateSecret(webhookId, operator);
    await before.close();
    const both = await openWebhooksInstance(store, { masterKeys: [newKey, oldKey] });
    expect(await both.webhooks.reencrypt(operator)).to.deep.equal({
      reencrypted: 2,
      current: 0,
      unopened: [],
    });
    expect(await both.webhooks.reencrypt(operator)).to.deep.equal({
      reencrypted: 0,
      current: 2,
      unopened: [],
    });
    await both.close();
    const lost = await openWebhooksInstance(store, { masterKeys: [Buffer.alloc(32, 3)] });
    expect((await lost.webhooks.reencrypt(operator)).unopened).to.deep.equal([{ webhookId }, { webhookId }]);
    await lost.close();
    await remove();
  });
});
