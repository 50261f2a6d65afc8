import { expect } from "chai";
import {
  attemptTimeoutMs,
  type Delivery,
  type DeliveryEvent,
  deliveryDecider,
  deliveryStream,
  finishAttempt,
  initialDelivery,
  parseDeliveryStream,
  queueDelivery,
  retryDelaysMs,
  startAttempt,
} from "../../../src/domain/webhooks/delivery.ts";

const start = Date.parse("2026-11-21T10:00:00.000Z");
const time = (ms: number): string => new Date(start + ms).toISOString();
const message = { id: "m", type: "webhook.test", timestamp: time(0), data: {} } as const;
const apply = (delivery: Delivery, events: readonly DeliveryEvent[]): Delivery =>
  events.reduce(deliveryDecider.evolve, delivery);
const queued = apply(initialDelivery(), queueDelivery(initialDelivery(), message, time(0)));
const started = apply(queued, startAttempt(queued, time(0)));
const failed = { error: "HTTP 500", status: 500, jitter: 0 };

describe("a delivery", () => {
  it("is queued once", () => {
    expect(queueDelivery(queued, message, time(9))).to.deep.equal([]);
  });

  it("has one attempt at a time: a second process starts none, until the first one has taken too long", () => {
    expect(startAttempt(started, time(attemptTimeoutMs - 1))).to.deep.equal([]);
    expect(startAttempt(started, time(attemptTimeoutMs))).to.deep.equal([
      { type: "DeliveryStarted", data: { attempt: 2, at: time(attemptTimeoutMs) } },
    ]);
  });

  it("ends with a success", () => {
    const outcome = { attempt: 1, status: 204, at: time(1), jitter: 0 };
    const succeeded = apply(started, finishAttempt(started, outcome));
    expect(succeeded.status).to.equal("succeeded");
    expect(startAttempt(succeeded, time(1e9))).to.deep.equal([]);
    expect(finishAttempt(succeeded, outcome)).to.deep.equal([]);
  });

  it("ignores the outcome of an attempt that another one has replaced", () => {
    const second = apply(started, startAttempt(started, time(attemptTimeoutMs)));
    expect(finishAttempt(second, { ...failed, attempt: 1, at: time(attemptTimeoutMs + 1) })).to.deep.equal(
      [],
    );
  });

  it("waits after each failure as long as Standard Webhooks recommends, up to a tenth longer", () => {
    for (const jitter of [0, 0.5, 1]) {
      let [delivery, now] = [queued, 0];
      const delays: number[] = [];
      for (let attempt = 1; delivery.status === "pending"; attempt++) {
        delivery = apply(delivery, startAttempt(delivery, time(now)));
        delivery = apply(delivery, finishAttempt(delivery, { ...failed, jitter, attempt, at: time(now) }));
        if (delivery.status !== "pending") break;
        const due = Date.parse(delivery.dueAt) - start;
        expect(startAttempt(delivery, time(due - 1))).to.deep.equal([]);
        delays.push(due - now);
        now = due;
      }
      expect(delivery.status).to.equal("failed");
      expect(delays).to.deep.equal(retryDelaysMs.map((ms) => Math.round(ms * (1 + jitter / 10))));
    }
  });

  it("has no further attempt after a final failure", () => {
    const outcome = { attempt: 1, status: 410, error: "HTTP 410", isFinal: true, at: time(1), jitter: 0 };
    expect(apply(started, finishAttempt(started, outcome)).status).to.equal("failed");
  });

  it("has a stream whose name contains the ids of webhook and message", () => {
    const messageId = "0193c0de-0000-8000-8000-000000000000";
    const stream = deliveryStream("whk_0b9Zk2fX7Qm4sT1uVwYzAc", messageId);
    expect(parseDeliveryStream(stream)).to.deep.equal({ webhookId: "whk_0b9Zk2fX7Qm4sT1uVwYzAc", messageId });
  });
});
