import { once } from "node:events";
import { expect } from "chai";
import { unknownSize } from "../../src/audio/formats/wav.ts";
import type { AudioFormat } from "../../src/domain/synthesis/formats.ts";
import { admin, bytesOf, type Credentials, registerWebsite, synthesize } from "../support/client.ts";
import { until } from "../support/processes.ts";
import { rejection } from "../support/rejection.ts";
import { instances, type RunningService, startService, temporaryFolder } from "../support/service.ts";
import {
  endOnTheLedger,
  eventsIn,
  httpForms,
  type OpenStream,
  onTheLedger,
  openStream,
  secondsOf,
} from "../support/streams.ts";
import { closedGate, type Gate } from "../support/wire/gate.ts";
import { goodCredentials, serveProviders, type WireProviders } from "../support/wire/providers.ts";

type Paid = keyof typeof goodCredentials;

const voices: Readonly<Record<Paid, string>> = {
  gwn: "en-US-Neural2-C",
  msv: "en-US-JennyNeural",
  oai: "alloy",
};
const formats: readonly AudioFormat[] = ["mp3", "ogg", "wav"];
const formatsOf = (engine: Paid) => (engine === "gwn" ? formats.slice(0, 2) : formats);
const contentTypes = { mp3: "audio/mpeg", ogg: "audio/ogg", wav: "audio/wav" } as const;

/** The whole way: paid providers at their wire, the service as a process, clients over HTTP. */
describe("streaming over HTTP", function () {
  this.timeout(60_000);
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let wire: WireProviders;
  let service: RunningService;
  let website: Credentials;
  let texts = 0;

  /** Several sentences, so that a provider that answers only whole is asked for piece after piece. */
  const freshText = (): string =>
    `This is text number ${++texts}. It is heard while it is made. Nobody waits for its last word to hear its first. That is all there is to it.`;

  const start = async (env: Record<string, string> = {}): Promise<void> => {
    service = await startService(folder.path, { ...wire.env, BURST_LIMIT: "1000000", ...env });
  };
  const register = async (plan = {}): Promise<Credentials> => {
    const registered = await registerWebsite(service.url, plan);
    for (const [engine, credentials] of Object.entries(goodCredentials)) {
      const path = `/websites/${registered.id}/credentials/${engine}`;
      expect((await admin(service.url, "PUT", path, credentials)).status).to.be.below(300);
    }
    return registered;
  };
  const stream = (asked: Record<string, unknown>, form?: (typeof httpForms)[number]) =>
    openStream(service.url, website, asked, form);

  /** Holds the provider back after the first of what it sends. */
  const holdAfterTheFirst = (engine: Paid): Gate => {
    const gate = closedGate();
    if (engine === "gwn") {
      const first = closedGate();
      first.open();
      wire.gwn.faults.next({ kind: "slow", gate: first });
      wire.gwn.faults.always({ kind: "slow", gate });
    } else {
      wire[engine].faults.next({ kind: "trickle", gate });
      gate.step();
    }
    return gate;
  };

  before(async () => {
    wire = await serveProviders();
    folder = await temporaryFolder();
    await start();
    website = await register();
  });
  after(async () => {
    await service.stop();
    await wire.close();
    await folder.remove();
  });
  afterEach(() => {
    for (const engine of ["gwn", "msv", "oai"] as const) wire[engine].faults.none();
  });

  for (const engine of ["gwn", "msv", "oai"] as const) {
    const voice = voices[engine];

    for (const format of formatsOf(engine)) {
      for (const form of httpForms) {
        it(`speaks ${format} by ${engine} as ${form}, and keeps it for whoever asks for it afterwards`, async () => {
          const asked = { voice, format, text: freshText() };
          const open = await stream(asked, form);
          expect(open.status).to.equal(200);
          const type = form === "sse" ? "text/event-stream; charset=utf-8" : contentTypes[format];
          expect(open.headers).to.include({
            "content-type": type,
            "cache-control": "no-store",
            "x-streaming": form,
            "svc-cached": "miss",
          });
          expect(open.headers).to.not.have.any.keys("content-length", "etag");
          const heard = await open.heard();
          await service.kept();
          const response = await synthesize(service.url, website, asked);
          expect(response.headers.get("svc-cached")).to.be.oneOf(["memory", "store"]);
          const kept = await bytesOf(response);
          expect(kept.length).to.equal(heard.length);
          const header = format === "wav" ? 44 : 0;
          expect(kept.subarray(header).equals(heard.subarray(header))).to.equal(true);
          if (format === "wav") expect(sizesIn(kept)).to.deep.equal([kept.length - 8, kept.length - 44]);
          expect(await secondsOf(heard))
            .to.be.closeTo(await secondsOf(kept), 0.01)
            .and.above(4);
        });
      }
    }

    it(`passes on the first sound of ${engine} before its last is made`, async () => {
      for (const form of httpForms) {
        const gate = holdAfterTheFirst(engine);
        const open = await stream({ voice, text: freshText() }, form);
        const [first] = (await once(open.body, "data")) as [Buffer];
        expect(first.length).to.be.above(0);
        expect(wire[engine].activeRequests()).to.be.above(0);
        gate.open();
        open.body.pause();
        expect((await open.body.toArray()).length).to.be.above(0);
        expect(open.body.complete).to.equal(true);
        wire[engine].faults.none();
      }
    });

    it(`answers with an error when ${engine} refuses before its first sound, in its words but with no secret`, async () => {
      const secret = Object.values(goodCredentials[engine])[0] ?? "";
      const message = `There is no capacity for ${secret} now`;
      wire[engine].faults.next({ kind: "refusal", status: 429, retryAfter: "37", message });
      const open = await stream({ voice, text: freshText() }, "sse");
      expect(open.status).to.equal(502);
      expect(open.headers).to.include({ "retry-after": "37", "cache-control": "no-store" });
      const told = Buffer.concat(await open.body.toArray()).toString();
      expect(JSON.parse(told).error).to.include({ statusCode: 502 }).and.not.have.property("code");
      expect(told).to.not.include(secret);
      if (engine !== "msv") expect(told).to.include("There is no capacity for");
    });
  }

  it("tells of prosody that is applied, in its header and in its metadata", async () => {
    const open = await stream(
      { voice: voices.msv, text: freshText(), pitch: 1.2, rate: 1.1, volume: 0.5 },
      "sse",
    );
    expect(open.headers["svc-prosody-applied"]).to.equal("pitch,rate,volume");
    const [metadata] = eventsIn(Buffer.concat(await open.body.toArray()).toString());
    expect(metadata).to.deep.equal({
      type: "metadata",
      data: { type: "metadata", contentType: "audio/mpeg", prosodyApplied: ["pitch", "rate", "volume"] },
    });
  });

  it("is a stream from memory and from the store as well, of the same bytes", async () => {
    const asked = { voice: voices.oai, format: "wav", text: freshText() };
    await (await stream(asked)).heard();
    await service.kept();
    const whole = await bytesOf(await synthesize(service.url, website, asked));
    const requests = wire.oai.requests.length;
    for (const provenance of ["memory", "store"]) {
      for (const form of httpForms) {
        if (provenance === "store") {
          await service.stop();
          await start();
        }
        const open = await stream(asked, form);
        expect(open.headers["svc-cached"]).to.equal(provenance);
        expect((await open.heard()).equals(whole)).to.equal(true);
      }
    }
    expect(wire.oai.requests.length).to.equal(requests);
  });

  it("breaks off the connection when the sound does, and keeps nothing of it", async () => {
    const asked = { voice: voices.oai, text: freshText() };
    wire.oai.faults.next({ kind: "cut" });
    const open = await stream(asked);
    await rejection(open.heard());
    expect(open.body.complete).to.equal(false);
    const end = await endOnTheLedger(service.url, website, open.headers["x-request-id"]);
    expect(end).to.include({ outcome: "failed" });
    expect((await synthesize(service.url, website, asked)).headers.get("svc-cached")).to.equal("miss");
  });

  it("tells of a failure midway in an event, which is the last", async () => {
    wire.oai.faults.next({ kind: "cut" });
    const open = await stream({ voice: voices.oai, text: freshText() }, "sse");
    const events = eventsIn(Buffer.concat(await open.body.toArray()).toString());
    expect(open.body.complete).to.equal(true);
    expect(events[0]?.type).to.equal("metadata");
    expect(events[1]?.type).to.equal("audio");
    expect(events.filter(({ type }) => type === "end")).to.be.empty;
    const { type, data } = events.at(-1) ?? {};
    expect(type).to.equal("error");
    const message = "The speech provider broke off its answer.";
    expect(data).to.deep.equal({ type: "error", message, retryable: true });
    const end = await endOnTheLedger(service.url, website, open.headers["x-request-id"]);
    expect(end).to.include({ outcome: "failed" });
  });

  for (const form of httpForms) {
    it(`lets go of the upstream when the last listener of ${form} leaves, and tells the ledger`, async () => {
      // Two listeners for each instance, which take turns: of each the first leaves, and then the other.
      const gates = Array.from({ length: instances }, () => holdAfterTheFirst("msv"));
      const asked = { voice: voices.msv, text: freshText() };
      const open: OpenStream[] = [];
      while (open.length < 2 * instances) open.push(await stream(asked, form));
      await Promise.all(open.map(({ body }) => once(body, "data")));
      const leave = async (leavers: readonly OpenStream[]): Promise<void> => {
        for (const leaver of leavers) leaver.leave();
        for (const { headers } of leavers) {
          const end = await endOnTheLedger(service.url, website, headers["x-request-id"]);
          expect(end).to.include({ outcome: "left" });
        }
      };
      await leave(open.slice(0, instances));
      expect(wire.msv.activeRequests()).to.equal(instances);
      await leave(open.slice(instances));
      await wire.msv.idle();
      const outcomes = wire.msv.requests.slice(-instances).map(({ outcome }) => outcome);
      expect(new Set(outcomes)).to.deep.equal(new Set(["left"]));
      for (const gate of gates) gate.open();
    });
  }

  it("is silence with 204, and nobody is asked", async () => {
    const requests = wire.oai.requests.length;
    const open = await stream({ voice: voices.oai, text: freshText(), volume: 0 }, "sse");
    expect(open.status).to.equal(204);
    expect(open.headers["svc-prosody-applied"]).to.equal("volume");
    expect(wire.oai.requests.length).to.equal(requests);
  });

  it("is there for no engine but the website's own", async () => {
    const free = await stream({ voice: "UK English Female", text: freshText() }, "sse");
    expect(free.status).to.equal(404);
    expect(JSON.parse(String(await free.body.toArray())).error).to.include({ code: "NOT_FOUND" });
    const bare = await registerWebsite(service.url);
    const none = await openStream(service.url, bare, { lang: "en-US", engine: "oai", text: freshText() });
    expect(none.status).to.equal(404);
    none.leave();
  });

  it("falls back in the order of the voice before its first sound, and the ledger tells who failed", async () => {
    const ids: unknown[] = [];
    for (const engine of ["gwn", "msv", "oai"] as const) {
      const { body } = await admin(service.url, "POST", "/system-voices", {
        ...{ name: `${engine}-in-turn`, lang: "en-US", service: engine, voiceName: voices[engine] },
      });
      ids.push(body.id);
    }
    const voice = { name: "In Turn", flag: "us", gender: "f", lang: "en-US", voiceIDs: ids };
    expect((await admin(service.url, "POST", "/voices", voice)).status).to.equal(201);
    wire.gwn.faults.next({ kind: "refusal", status: 400 });
    wire.msv.faults.next({ kind: "empty" });
    const open = await stream({ voice: voice.name, text: freshText() });
    expect(open.status).to.equal(200);
    expect((await open.heard()).length).to.be.above(0);
    const ledger = await onTheLedger(service.url, website, "SynthesisServed");
    expect(ledger.at(-1)).to.deep.include({
      requestId: open.headers["x-request-id"],
      engine: "oai",
      voice: voice.name,
      stream: "audio",
      cached: "miss",
      failed: ["gwn-in-turn", "msv-in-turn"],
    });
  });

  it("is refused to who has no room for it, before anybody is asked", async () => {
    const asked = { voice: voices.oai, text: freshText() };
    const poor = await register({ monthlyCharacters: 10 });
    const rare = await register({ requestsPerMinute: 1 });
    const requests = wire.oai.requests.length;
    for (let i = 0; i < 2; i++) {
      const refused = await openStream(service.url, poor, asked, "sse");
      expect(refused.status).to.equal(403);
      expect(JSON.parse(String(await refused.body.toArray())).error.code).to.equal("KEY_SUSPENDED");
    }
    const statuses: number[] = [];
    for (let i = 0; i < 3; i++) {
      const answered = await openStream(service.url, rare, { ...asked, volume: 0 });
      statuses.push(answered.status);
      answered.leave();
    }
    expect(statuses).to.include(429);
    expect(wire.oai.requests.length).to.equal(requests);
  });

  it("lets a running stream come to its end when the service is told to end", async () => {
    const gate = holdAfterTheFirst("oai");
    const open = await stream({ voice: voices.oai, text: freshText() }, "sse");
    const exit = service.stop();
    await until("it drains", () => service.log.some((line) => line.includes("draining")));
    gate.open();
    expect((await open.heard()).length).to.be.above(0);
    expect(await exit).to.equal(0);
    await start();
    expect(await endOnTheLedger(service.url, website, open.headers["x-request-id"])).to.include({
      outcome: "whole",
    });
  });

  it("ends all the same when a stream does not", async () => {
    await service.stop();
    await start({ DRAIN_SECONDS: "1" });
    holdAfterTheFirst("oai");
    const open = await stream({ voice: voices.oai, text: freshText() });
    const heard = rejection(open.heard());
    expect(await service.stop()).to.equal(0);
    await heard;
    await wire.oai.idle();
    await start();
  });

  it("is on the ledger when its first byte is heard, though the service is killed at once", async () => {
    for (const form of httpForms) {
      holdAfterTheFirst("oai");
      const open = await stream({ voice: voices.oai, text: freshText() }, form);
      await once(open.body, "data");
      const broken = rejection(open.heard());
      await service.kill();
      await broken;
      await wire.oai.idle();
      expect(wire.oai.requests.at(-1)?.outcome).to.equal("left");
      await start();
      const served = await onTheLedger(service.url, website, "SynthesisServed");
      expect(served.at(-1)).to.include({ requestId: open.headers["x-request-id"], stream: form });
    }
  });
});

/** What a WAV's header says of its length and of its samples'. */
const sizesIn = (wav: Buffer): number[] => {
  const sizes = [wav.readUInt32LE(4), wav.readUInt32LE(40)];
  return sizes.includes(unknownSize) ? [] : sizes;
};
