import type { ServerResponse } from "node:http";
import { expect } from "chai";
import { type PlaybackProsody, Voxledger } from "../../../src/client/voxledger.ts";
import { nextEvent, recordEvents } from "../../support/client-library/recorded-events.ts";
import {
  type StubBehaviour,
  type StubStreamingService,
  startStubStreamingService,
} from "../../support/client-library/stub-streaming-service.ts";
import { createManualTime, type ManualTime } from "../../support/manual-time.ts";
import { rejection } from "../../support/rejection.ts";
import { streamingPlayer } from "./streaming-player.ts";

const start = (res: ServerResponse, headers: Record<string, string> = {}): ServerResponse =>
  res.writeHead(200, { "Content-Type": "audio/mpeg", "X-Streaming": "audio", ...headers });
const refuse = (res: ServerResponse, statusCode: number, code?: string, headers = {}): void => {
  res.writeHead(statusCode, { "Content-Type": "application/json", ...headers });
  res.end(JSON.stringify({ error: { message: `status ${statusCode}`, statusCode, code } }));
};
/** Two parts, because the sentences are too long for one. */
const twoParts = `${"a".repeat(200)}. ${"b".repeat(200)}.`;

describe("the HTTP stream transport of the client library", () => {
  let service: StubStreamingService;
  let client: Voxledger;
  let played: string[];
  let delays: number[];
  let prosodies: PlaybackProsody[];
  let time: ManualTime;

  const connect = async (
    behaviour: StubBehaviour,
    { onChunk = (chunk: string): void | Promise<void> => void played.push(chunk) } = {},
  ): Promise<Voxledger> => {
    service = await startStubStreamingService(behaviour);
    client = new Voxledger(
      { apiKey: "k", apiSecret: "s", baseUrl: service.url, transport: "stream" },
      {
        player: streamingPlayer(onChunk, prosodies),
        startTimer: time.after,
        random: () => 0,
        sleep: async (ms) => void delays.push(ms),
      },
    );
    return client;
  };
  const requests = (): string[] => service.requests.map((line) => line.slice(0, 8));

  beforeEach(() => {
    played = [];
    delays = [];
    prosodies = [];
    time = createManualTime();
  });
  afterEach(async () => {
    client.close();
    await service.close();
  });

  it("plays each chunk before the next one has been received", async () => {
    const first = Promise.withResolvers<void>();
    await connect(
      {
        stream: async (_, res) => {
          start(res).write("one");
          await first.promise;
          res.end("two");
        },
      },
      {
        onChunk: (chunk) => {
          played.push(chunk);
          first.resolve();
        },
      },
    );
    expect(await client.speak("Hello.")).to.deep.equal({ cancelled: false });
    expect(played).to.deep.equal(["one", "two"]);
  });

  it("sends the voice and the prosody, and requests the raw audio", async () => {
    const requests: object[] = [];
    await connect({
      stream: (body, res) => {
        requests.push(body);
        start(res).end("sound");
      },
    });
    await client.speak("Hello.", { voice: "alloy", rate: 1.5 });
    expect(requests).to.deep.equal([{ text: "Hello.", voice: "alloy", rate: 1.5 }]);
    expect(service.requests).to.deep.equal(["stream Hello."]);
  });

  it("lets the player apply prosody that the service did not apply", async () => {
    await connect({
      stream: (_, res) => void start(res, { "Acme-Prosody-Applied": "volume" }).end("sound"),
    });
    await client.speak("Hello.", { rate: 1.5, volume: 0.5 });
    expect(prosodies).to.deep.equal([{ playbackRate: 1.5, volume: 1 }]);
  });

  it("fails when the stream breaks after its first chunk, and does not retry", async () => {
    const playedOne = Promise.withResolvers<void>();
    await connect(
      {
        stream: async (_, res) => {
          start(res).write("one");
          await playedOne.promise;
          res.destroy();
        },
      },
      {
        onChunk: (chunk) => {
          played.push(chunk);
          playedOne.resolve();
        },
      },
    );
    const events = recordEvents(client);
    expect(await rejection(client.speak("Hello."))).to.include({ code: "NETWORK" });
    expect(played).to.deep.equal(["one"]);
    expect(service.requests).to.have.length(1);
    expect(events.map(({ type }) => type))
      .to.include("OnError")
      .and.not.include("OnPartEnd");
  });

  it("retries after Retry-After while no chunk has been received", async () => {
    const responses = [
      (res: ServerResponse) => refuse(res, 429, "RATE_LIMIT_EXCEEDED", { "Retry-After": "7" }),
      (res: ServerResponse) => void start(res).flushHeaders(),
      (res: ServerResponse) => void start(res).end("sound"),
    ];
    await connect({
      stream: (_, res) => {
        responses.shift()?.(res);
        if (responses.length === 1) res.destroy(); // its headers had been sent, but no audio
      },
    });
    await client.speak("Hello.");
    expect(played).to.deep.equal(["sound"]);
    expect(delays).to.deep.equal([7_000, 0]);
  });

  it("applies the timeout to each chunk", async () => {
    await connect(
      { stream: (_, res) => void start(res).write("one") },
      {
        onChunk: (chunk) => {
          played.push(chunk);
          time.advance(30_000);
        },
      },
    );
    expect(await rejection(client.speak("Hello."))).to.include({ code: "TIMEOUT" });
    expect(played).to.deep.equal(["one"]);
  });

  it("prefetches the next part when the current one has been received, not earlier", async () => {
    const seen: string[][] = [];
    const first = Promise.withResolvers<void>();
    const second = Promise.withResolvers<void>();
    await connect(
      {
        stream: async ({ text }, res) => {
          start(res).write(`${String(text)[0]}1`);
          if (String(text).startsWith("b")) second.resolve();
          await first.promise;
          res.end("-");
        },
      },
      {
        onChunk: async (chunk) => {
          seen.push(requests());
          first.resolve();
          if (chunk === "-" && seen.length === 2) await second.promise;
        },
      },
    );
    await client.speak(`${twoParts} ${"c".repeat(200)}.`);
    expect(seen[0]).to.deep.equal(["stream a"]);
    expect(seen[2]).to.deep.equal(["stream a", "stream b"]);
    expect(requests()).to.deep.equal(["stream a", "stream b", "stream c"]);
  });

  it("closes the connection when the speech is cancelled", async () => {
    const left = Promise.withResolvers<void>();
    await connect({
      stream: (_, res) => {
        start(res).write("one");
        res.on("close", left.resolve);
      },
    });
    const speaking = client.speak("Hello.");
    await nextEvent(client, "OnStart");
    client.cancel();
    expect(await speaking).to.deep.equal({ cancelled: true });
    await left.promise;
  });

  it("plays nothing for volume 0", async () => {
    await connect({
      stream: (_, res) => void res.writeHead(204, { "SVC-Prosody-Applied": "volume" }).end(),
    });
    expect(await client.speak("Nothing.", { volume: 0 })).to.deep.equal({ cancelled: false });
    expect(played).to.deep.equal([]);
  });

  it("downloads voices that the service does not stream, and remembers them", async () => {
    await connect({
      stream: ({ voice }, res) =>
        voice === "alloy" ? void start(res).end("streamed") : refuse(res, 404, "NOT_FOUND"),
      download: (_, res) => void start(res).end("downloaded"),
    });
    await client.speak(twoParts, { voice: "UK English Female" });
    await client.speak("c", { voice: "UK English Female" });
    await client.speak("d", { voice: "alloy" });
    expect(played).to.deep.equal(["downloaded", "downloaded", "downloaded", "streamed"]);
    expect(requests()).to.deep.equal(["stream a", "download", "download", "download", "stream d"]);
  });

  it("fails with NOT_FOUND for an unknown voice", async () => {
    await connect({
      stream: (_, res) => refuse(res, 404, "NOT_FOUND"),
      download: (_, res) => refuse(res, 404, "NOT_FOUND"),
    });
    expect(await rejection(client.speak("a", { voice: "Nobody" }))).to.include({ code: "NOT_FOUND" });
    expect(requests()).to.deep.equal(["stream a", "download"]);
  });
});
