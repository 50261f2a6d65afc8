import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { createCommandHandler } from "../../src/eventstore/command-handler.ts";
import type { RecordedEvent } from "../../src/eventstore/event-store.ts";
import { validatedEventStore } from "../../src/eventstore/validated-event-store.ts";
import { collect } from "../support/collect.ts";
import { duringTest } from "../support/during.ts";
import { openTemporaryStore } from "../support/temporary-store.ts";

const revoked = { secretId: "s", at: "2026-11-05T10:00:00.000Z" };

describe("a validated event store", () => {
  const temporary = duringTest(openTemporaryStore);

  const append = async (data: object, type = "SecretRevoked"): Promise<string> => {
    const id = randomUUID();
    await temporary.store.append("key-k", [{ id, type, data, metadata: {} }], "any");
    return id;
  };

  it("replaces a malformed event by one that folds ignore, with its place and without its data", async () => {
    await append(revoked);
    const id = await append({ secretId: ["a secret"] });
    const malformed: RecordedEvent[] = [];
    const store = validatedEventStore(temporary.store, { onMalformed: (event) => malformed.push(event) });
    const events = await collect(store.readStream("key-k"));
    expect(events.map(({ type, revision }) => [type, revision])).to.deep.equal([
      ["SecretRevoked", 0],
      ["MalformedEvent", 1],
    ]);
    expect(events[1]).to.deep.include({ id, data: { type: "SecretRevoked" } });
    expect(await store.eventAt(events[1]?.position ?? 0)).to.deep.equal(events[1]);
    expect(malformed.map(({ revision }) => revision)).to.deep.equal([1, 1]);
    for await (const { events: delivered } of store.subscribe()) {
      expect(delivered).to.deep.equal(events);
      break;
    }
    expect(malformed.map(({ revision }) => revision)).to.deep.equal([1, 1, 1]);
  });

  it("replaces a well-formed event in another kind of stream, so that no view and no command takes it", async () => {
    const data = { secretId: "s", hash: "5ec2e7", at: revoked.at };
    const event = { id: randomUUID(), type: "SecretCreated", data, metadata: { actor: "cli" } };
    await temporary.store.append("rate-i", [event], "any");
    const [found] = await collect(validatedEventStore(temporary.store).readStream("rate-i"));
    expect(found).to.deep.include({ type: "MalformedEvent", data: { type: "SecretCreated" }, metadata: {} });
  });

  it("allows commands after a malformed event at the end of a stream", async () => {
    await append({});
    const decider = {
      initial: () => 0,
      evolve: (count: number, { type }: { type: string }) => count + Number(type === "SecretRevoked"),
    };
    const handler = createCommandHandler({ store: validatedEventStore(temporary.store) });
    const decide = () => [{ type: "SecretRevoked", data: revoked }];
    const { state } = await handler.execute(decider, "key-k", decide, {});
    expect(state).to.equal(1);
  });
});
