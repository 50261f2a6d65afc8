import { once } from "node:events";
import { expect } from "chai";
import { formats } from "../../src/domain/synthesis/formats.ts";
import { engines } from "../../src/domain/synthesis/speech.ts";
import { unknownSize } from "../../src/domain/synthesis/wav-header.ts";
import { admin, bytesOf, type Credentials, registerWebsite, synthesize } from "../support/client.ts";
import { duringSuite } from "../support/during.ts";
import { until } from "../support/processes.ts";
import { rejection } from "../support/rejection.ts";
import { instances, type RunningService, startService, temporaryFolder } from "../support/service.ts";
import {
  eventsIn,
  httpForms,
  type OpenStream,
  openStream,
  recordedEvents,
  recordedStreamEnd,
  secondsOf,
} from "../support/streams.ts";
import { closedGate, type Gate } from "../support/wire/gate.ts";
import { goodCredentials, serveProviders } from "../support/wire/providers.ts";

type Paid = keyof typeof goodCredentials;

const voices: Readonly<Record<Paid, string>> = {
  gwn: "en-US-Neural2-C",
  msv: "en-US-JennyNeural",
  oai: "alloy",
};

/** End to end: fake paid providers, the service as a process, clients over HTTP. */
describe("streaming over HTTP", () => {
  const wire = duringSuite(serveProviders);
  const folder = duringSuite(temporaryFolder);
  let service: RunningService;
  let website: Credentials;
  let texts = 0;

  /** Several sentences, so that a provider without streaming gets several requests. */
  const freshText = (): string =>
    `This is text number ${++texts}. It is played while it is synthesized. Its first word does not wait for its last. This sentence is the end.`;

  const start = (env: Record<string, string> = {}): Promise<RunningService> =>
    startService(folder.path, { ...wire.env, BURST_LIMIT: "1000000", ...env });
  const register = async (plan = {}): Promise<Credentials> => {
    const registered = await registerWebsite(service.url, plan);
    for (const [engine, credentials] of Object.entries(goodCredentials)) {
      const path = `/websites/${registered.id}/credentials/${engine}`;
      expect((await admin(service.url, "PUT", path, credentials)).status).to.be.below(300);
    }
    return registered;
  };
  const stream = (request: Record<string, unknown>, form?: (typeof httpForms)[number]) =>
    openStream(service.url, website, request, form);

  /** Pauses the provider after its first chunk. */
  const pauseAfterFirstChunk = (engine: Paid): Gate => {
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
    service = await start();
    website = await register();
  });
  after(async () => {
    await service.stop();
  });
  afterEach(() => {
    for (const engine of ["gwn", "msv", "oai"] as const) wire[engine].faults.none();
  });

  for (const engine of ["gwn", "msv", "oai"] as const) {
    const voice = voices[engine];

    for (const format of engines[engine].formats) {
      for (const form of httpForms) {
        it(`streams ${format} of ${engine} as ${form}, and caches it for later requests`, async () => {
          const request = { voice, format, text: freshText() };
          const open = await stream(request, form);
          expect(open.status).to.equal(200);
          const type = form === "sse" ? "text/event-stream; charset=utf-8" : formats[format].mimeType;
          expect(open.headers).to.include({
            "content-type": type,
            "cache-control": "no-store",
            "x-streaming": form,
            "svc-cached": "miss",
          });
          expect(open.headers).to.not.have.any.keys("content-length", "etag");
          const received = await open.readAudio();
          await service.kept();
          const response = await synthesize(service.url, website, request);
          expect(response.headers.get("svc-cached")).to.be.oneOf(["memory", "store"]);
          const kept = await bytesOf(response);
          expect(kept.length).to.equal(received.length);
          const header = format === "wav" ? 44 : 0;
          expect(kept.subarray(header).equals(received.subarray(header))).to.equal(true);
          if (format === "wav") expect(sizesIn(kept)).to.deep.equal([kept.length - 8, kept.length - 44]);
          const seconds = await secondsOf(received);
          expect(seconds).to.be.above(4);
          // The bytes of the other formats are equal.
          if (format === "wav") expect(await secondsOf(kept)).to.be.closeTo(seconds, 0.01);
        });
      }
    }

    it(`sends the first audio of ${engine} before the last is synthesized`, async () => {
      for (const form of httpForms) {
        const gate = pauseAfterFirstChunk(engine);
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

    it(`answers with the error of ${engine} before the first byte, without secrets`, async () => {
      const secret = Object.values(goodCredentials[engine])[0] ?? "";
      const message = `There is no capacity for ${secret} now`;
      wire[engine].faults.next({ kind: "refusal", status: 429, retryAfter: "37", message });
      const open = await stream({ voice, text: freshText() }, "sse");
      expect(open.status).to.equal(502);
      expect(open.headers).to.include({ "retry-after": "37", "cache-control": "no-store" });
      const text = Buffer.concat(await open.body.toArray()).toString();
      expect(JSON.parse(text).error).to.include({ statusCode: 502 }).and.not.have.property("code");
      expect(text).to.not.include(secret);
      if (engine !== "msv") expect(text).to.include("There is no capacity for");
    });
  }

  it("reports the applied prosody in the header and in the metadata event", async () => {
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

  it("streams the same bytes from memory and from the store", async () => {
    const requests = httpForms.map(() => ({ voice: voices.oai, format: "wav", text: freshText() }));
    const first: Buffer[] = [];
    for (const request of requests) first.push(await (await stream(request)).readAudio());
    await service.kept();
    const asked = wire.oai.requests.length;
    for (const source of ["memory", "store"]) {
      if (source === "store") {
        await service.stop();
        service = await start();
      }
      for (const [index, form] of httpForms.entries()) {
        const open = await stream(requests[index] ?? {}, form);
        expect(open.headers["svc-cached"]).to.equal(source);
        expect((await open.readAudio()).equals(first[index] ?? Buffer.of())).to.equal(true);
      }
    }
    expect(wire.oai.requests.length).to.equal(asked);
  });

  it("closes the connection when the provider's breaks, and caches nothing", async () => {
    const request = { voice: voices.oai, text: freshText() };
    wire.oai.faults.next({ kind: "cut" });
    const open = await stream(request);
    await rejection(open.readAudio());
    expect(open.body.complete).to.equal(false);
    const end = await recordedStreamEnd(service.url, website, open.headers["x-request-id"]);
    expect(end).to.include({ outcome: "failed" });
    expect((await synthesize(service.url, website, request)).headers.get("svc-cached")).to.equal("miss");
  });

  it("sends a failure after the first byte as the last event", async () => {
    wire.oai.faults.next({ kind: "cut" });
    const open = await stream({ voice: voices.oai, text: freshText() }, "sse");
    const events = eventsIn(Buffer.concat(await open.body.toArray()).toString());
    expect(open.body.complete).to.equal(true);
    expect(events[0]?.type).to.equal("metadata");
    expect(events[1]?.type).to.equal("audio");
    expect(events.filter(({ type }) => type === "end")).to.be.empty;
    const { type, data } = events.at(-1) ?? {};
    expect(type).to.equal("error");
    const message = "The connection to the speech provider ended before its response was complete.";
    expect(data).to.deep.equal({ type: "error", message, retryable: true });
    const end = await recordedStreamEnd(service.url, website, open.headers["x-request-id"]);
    expect(end).to.include({ outcome: "failed" });
  });

  for (const form of httpForms) {
    it(`aborts the provider's request when the last ${form} listener disconnects, and records it`, async () => {
      // Two listeners per instance: the first of each disconnects, and then the other one.
      const gates = Array.from({ length: instances }, () => pauseAfterFirstChunk("msv"));
      const request = { voice: voices.msv, text: freshText() };
      const open: OpenStream[] = [];
      while (open.length < 2 * instances) open.push(await stream(request, form));
      await Promise.all(open.map(({ body }) => once(body, "data")));
      const leave = async (leaving: readonly OpenStream[]): Promise<void> => {
        for (const leaver of leaving) leaver.disconnect();
        for (const { headers } of leaving) {
          const end = await recordedStreamEnd(service.url, website, headers["x-request-id"]);
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

  it("responds 404 for free engines and for engines without credentials", async () => {
    const free = await stream({ voice: "UK English Female", text: freshText() }, "sse");
    expect(free.status).to.equal(404);
    expect(JSON.parse(String(await free.body.toArray())).error).to.include({ code: "NOT_FOUND" });
    const bare = await registerWebsite(service.url);
    const none = await openStream(service.url, bare, { lang: "en-US", engine: "oai", text: freshText() });
    expect(none.status).to.equal(404);
    none.disconnect();
  });

  it("falls back in the voice's order before the first byte, and records the failed voices", async () => {
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
    expect((await open.readAudio()).length).to.be.above(0);
    const ledger = await recordedEvents(service.url, website, "SynthesisServed");
    expect(ledger.at(-1)).to.deep.include({
      requestId: open.headers["x-request-id"],
      engine: "oai",
      voice: voice.name,
      stream: "audio",
      cached: "miss",
      failed: ["gwn-in-turn", "msv-in-turn"],
    });
  });

  it("finishes a running stream at shutdown", async () => {
    const gate = pauseAfterFirstChunk("oai");
    const open = await stream({ voice: voices.oai, text: freshText() }, "sse");
    const exit = service.stop();
    const draining = () => service.log.filter((line) => line.includes("draining")).length;
    await until("every instance drains", () => draining() === service.pids.length);
    gate.open();
    expect((await open.readAudio()).length).to.be.above(0);
    expect(await exit).to.equal(0);
    service = await start();
    expect(await recordedStreamEnd(service.url, website, open.headers["x-request-id"])).to.include({
      outcome: "whole",
    });
  });

  it("shuts down after DRAIN_SECONDS even if a stream has not ended", async () => {
    const other = await start({ DRAIN_SECONDS: "1" });
    pauseAfterFirstChunk("oai");
    const open = await openStream(other.url, website, { voice: voices.oai, text: freshText() });
    const received = rejection(open.readAudio());
    expect(await other.stop()).to.equal(0);
    await received;
    await wire.oai.idle();
  });

  it("has recorded a stream when its first byte arrives, even if the process is killed", async () => {
    for (const _ of httpForms) pauseAfterFirstChunk("oai");
    const open = await Promise.all(
      httpForms.map((form) => stream({ voice: voices.oai, text: freshText() }, form)),
    );
    await Promise.all(open.map(({ body }) => once(body, "data")));
    const broken = open.map((one) => rejection(one.readAudio()));
    await service.kill();
    await Promise.all(broken);
    await wire.oai.idle();
    const outcomes = wire.oai.requests.slice(-open.length).map(({ outcome }) => outcome);
    expect(outcomes).to.deep.equal(open.map(() => "left"));
    service = await start();
    const served = await recordedEvents(service.url, website, "SynthesisServed");
    const forms = open.map(({ headers }) =>
      served.filter((one) => one.requestId === headers["x-request-id"]).map((one) => one.stream),
    );
    expect(forms).to.deep.equal(httpForms.map((form) => [form]));
  });
});

/** The two size fields of a WAV header: of the file and of the samples. */
const sizesIn = (wav: Buffer): number[] => {
  const sizes = [wav.readUInt32LE(4), wav.readUInt32LE(40)];
  return sizes.includes(unknownSize) ? [] : sizes;
};
