import { expect } from "chai";
import { Conflict, NotFound } from "../../../src/domain/errors.ts";
import type { WebhookEventType } from "../../../src/domain/webhooks/message.ts";
import {
  addWebhook,
  type ChangeWebhook,
  changeWebhook,
  disableWebhook,
  formerSecretMs,
  initialWebhooks,
  isSubscribed,
  maxWebhooks,
  pauseWebhooks,
  removeWebhook,
  requireWebhook,
  rotateWebhookSecret,
  type WebhookAdded,
  type WebhookEvent,
  type Webhooks,
  webhooksDecider,
} from "../../../src/domain/webhooks/webhooks.ts";

const at = "2026-11-21T10:00:00.000Z";
const added = (members: Partial<WebhookAdded> = {}): WebhookAdded => ({
  webhookId: "whk_1",
  url: "https://example.com/",
  events: ["key.suspended"],
  ciphertext: "v1.a",
  keyId: "k",
  at,
  ...members,
});
const apply = (webhooks: Webhooks, events: readonly WebhookEvent[]): Webhooks =>
  events.reduce(webhooksDecider.evolve, webhooks);
const one = apply(initialWebhooks(), addWebhook(initialWebhooks(), added()));

describe("the webhooks of an installation", () => {
  it("are limited in number, and room is made by removing one", () => {
    let all = initialWebhooks();
    for (let n = 0; n < maxWebhooks; n++) {
      all = apply(all, addWebhook(all, added({ webhookId: `whk_${n}` })));
    }
    expect(() => addWebhook(all, added())).to.throw(Conflict);
    const fewer = apply(all, removeWebhook(all, { webhookId: "whk_7", at }));
    expect(addWebhook(fewer, added())).to.have.length(1);
  });

  it("record only what a change changes", () => {
    const same = { webhookId: "whk_1", url: "https://example.com/", enabled: true, at };
    expect(changeWebhook(one, same)).to.deep.equal([]);
    const changed = changeWebhook(one, { ...same, url: "https://example.com/b", enabled: false });
    expect(changed.map(({ type }) => type)).to.deep.equal(["WebhookChanged", "WebhookDisabled"]);
    expect(requireWebhook(apply(one, changed), "whk_1")).to.deep.include({
      url: "https://example.com/b",
      events: ["key.suspended"],
      status: "disabled",
    });
  });

  it("are disabled only once, and not after they were removed", () => {
    const disable = { webhookId: "whk_1", by: "receiver", at } as const;
    const disabled = apply(one, disableWebhook(one, disable));
    expect(disableWebhook(disabled, disable)).to.deep.equal([]);
    expect(disableWebhook(initialWebhooks(), disable)).to.deep.equal([]);
    const enabled = apply(disabled, changeWebhook(disabled, { webhookId: "whk_1", enabled: true, at }));
    expect(requireWebhook(enabled, "whk_1")).to.deep.equal(requireWebhook(one, "whk_1"));
  });

  it("are paused by a restore, except those that are disabled, until an operator enables them", () => {
    const paused = apply(one, pauseWebhooks(one, at));
    expect(requireWebhook(paused, "whk_1")).to.deep.include({ status: "disabled", by: "restore", since: at });
    expect(pauseWebhooks(paused, at)).to.deep.equal([]);
    const enabled = apply(paused, changeWebhook(paused, { webhookId: "whk_1", enabled: true, at }));
    expect(requireWebhook(enabled, "whk_1").status).to.equal("enabled");
  });

  it("keep the former secret for a day after a rotation, and only the last one", () => {
    const rotate = (webhooks: Webhooks, ciphertext: string) =>
      apply(webhooks, rotateWebhookSecret(webhooks, { webhookId: "whk_1", ciphertext, keyId: "k", at }));
    const twice = rotate(rotate(one, "v1.b"), "v1.c");
    const until = new Date(Date.parse(at) + formerSecretMs).toISOString();
    expect(requireWebhook(twice, "whk_1")).to.deep.include({
      secret: { ciphertext: "v1.c", keyId: "k" },
      former: { secret: { ciphertext: "v1.b", keyId: "k" }, until },
    });
  });

  it("are not found by the names of object members", () => {
    for (const webhookId of ["constructor", "__proto__", "whk_2"]) {
      expect(() => requireWebhook(one, webhookId)).to.throw(NotFound);
    }
  });

  it("receive the types that they subscribe to, of their website and key, from the time they were added", () => {
    const subject = { apiKey: "vlk_1", websiteId: "web_1" };
    const receives = (members: Partial<WebhookAdded>, time = at) => {
      const webhooks = apply(initialWebhooks(), addWebhook(initialWebhooks(), added(members)));
      return isSubscribed(requireWebhook(webhooks, "whk_1"), "key.suspended", subject, time);
    };
    expect(receives({})).to.equal(true);
    expect(receives({ websiteId: "web_1", apiKey: "vlk_1" })).to.equal(true);
    expect(receives({ websiteId: "web_2" })).to.equal(false);
    expect(receives({ apiKey: "vlk_2" })).to.equal(false);
    expect(receives({ events: ["key.reinstated"] })).to.equal(false);
    expect(receives({}, "2026-11-21T09:59:59.999Z")).to.equal(false);
  });

  it("receive nothing that happened while they were disabled, or before they subscribed to its type", () => {
    const subject = { apiKey: "vlk_1", websiteId: "web_1" };
    const receives = (webhooks: Webhooks, type: WebhookEventType, time: string) =>
      isSubscribed(requireWebhook(webhooks, "whk_1"), type, subject, time);
    const change = (webhooks: Webhooks, members: Omit<ChangeWebhook, "webhookId">) =>
      apply(webhooks, changeWebhook(webhooks, { webhookId: "whk_1", ...members }));
    const timeAfter = (seconds: number) => new Date(Date.parse(at) + seconds * 1_000).toISOString();
    const [second, third, fourth] = [timeAfter(1), timeAfter(2), timeAfter(3)];
    const more = change(one, { events: ["key.suspended", "key.reinstated"], at: third });
    expect(receives(more, "key.suspended", second)).to.equal(true);
    expect(receives(more, "key.reinstated", second)).to.equal(false);
    expect(receives(more, "key.reinstated", third)).to.equal(true);
    const disabled = change(one, { enabled: false, at });
    const enabled = change(disabled, { enabled: true, at: third });
    expect(receives(enabled, "key.suspended", second)).to.equal(false);
    expect(receives(enabled, "key.suspended", fourth)).to.equal(true);
  });
});
