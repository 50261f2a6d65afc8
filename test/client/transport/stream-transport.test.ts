import type { ServerResponse } from "node:http";
import { expect } from "chai";
import { type PlaybackProsody, Voxledger } from "../../../src/client/voxledger.ts";
import { nextEvent, recordEvents } from "../../support/client-library/recorded-events.ts";
import {
  type StubBehaviour,
  type StubStreamingService,
  startStubStreamingService,
} from "../../support/client-library/stub-streaming-service.ts";
import { rejection } from "../../support/rejection.ts";
import { streamingPlayer } from "./streaming-player.ts";

const start = (res: ServerResponse, headers: Record<string, string> = {}): ServerResponse =>
  res.writeHead(200, { "Content-Type": "audio/mpeg", "X-Streaming": "audio", ...headers });
const refuse = (res: ServerResponse, statusCode: number, code?: string, headers = {}): void => {
  res.writeHead(statusCode, { "Content-Type": "application/json", ...headers });
  res.end(JSON.stringify({ error: { message: `it was ${statusCode}`, statusCode, code } }));
};
/** Two parts: each is as long as a part may be. */
const twoParts = `${"a".repeat(200)}. ${"b".repeat(200)}.`;

describe("the client library's transport stream", () => {
  let service: StubStreamingService;
  let client: Voxledger;
  let heard: string[];
  let waits: number[];
  let prosodies: PlaybackProsody[];

  const connect = async (
    behaviour: StubBehaviour,
    { timeout = 5_000, hear = (piece: string): void | Promise<void> => void heard.push(piece) } = {},
  ): Promise<Voxledger> => {
    service = await startStubStreamingService(behaviour);
    client = new Voxledger(
      { apiKey: "k", apiSecret: "s", baseUrl: service.url, transport: "stream", timeout },
      { player: streamingPlayer(hear, prosodies), random: () => 0, sleep: async (ms) => void waits.push(ms) },
    );
    return client;
  };
  const asked = (): string[] => service.requests.map((line) => line.slice(0, 8));

  beforeEach(() => {
    heard = [];
    waits = [];
    prosodies = [];
  });
  afterEach(async () => {
    client.close();
    await service.close();
  });

  it("hands each piece on while the rest is still to come", async () => {
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
        hear: (piece) => {
          heard.push(piece);
          first.resolve();
        },
      },
    );
    expect(await client.speak("Hello.")).to.deep.equal({ cancelled: false });
    expect(heard).to.deep.equal(["one", "two"]);
  });

  it("asks for the audio itself, in the voice and with the knobs that are wanted", async () => {
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

  it("leaves to the player what the service did not apply", async () => {
    await connect({
      stream: (_, res) => void start(res, { "Acme-Prosody-Applied": "volume" }).end("sound"),
    });
    await client.speak("Hello.", { rate: 1.5, volume: 0.5 });
    expect(prosodies).to.deep.equal([{ playbackRate: 1.5, volume: 1 }]);
  });

  it("takes a sound that breaks off for a failure, and does not ask for it again", async () => {
    const heardOne = Promise.withResolvers<void>();
    await connect(
      {
        stream: async (_, res) => {
          start(res).write("one");
          await heardOne.promise;
          res.destroy();
        },
      },
      {
        hear: (piece) => {
          heard.push(piece);
          heardOne.resolve();
        },
      },
    );
    const told = recordEvents(client);
    expect(await rejection(client.speak("Hello."))).to.include({ code: "NETWORK" });
    expect(heard).to.deep.equal(["one"]);
    expect(service.requests).to.have.length(1);
    expect(told.map(({ type }) => type))
      .to.include("OnError")
      .and.not.include("OnPartEnd");
  });

  it("asks again, as late as it is told, while nothing has been heard", async () => {
    const answers = [
      (res: ServerResponse) => refuse(res, 429, "RATE_LIMIT_EXCEEDED", { "Retry-After": "7" }),
      (res: ServerResponse) => void start(res).flushHeaders(),
      (res: ServerResponse) => void start(res).end("sound"),
    ];
    await connect({
      stream: (_, res) => {
        answers.shift()?.(res);
        if (answers.length === 1) res.destroy(); // its head had been sent, and no sound
      },
    });
    await client.speak("Hello.");
    expect(heard).to.deep.equal(["sound"]);
    expect(waits).to.deep.equal([7_000, 0]);
  });

  it("waits no longer for a piece than for an answer", async () => {
    await connect({ stream: (_, res) => void start(res).write("one") }, { timeout: 1_000 });
    expect(await rejection(client.speak("Hello."))).to.include({ code: "TIMEOUT" });
    expect(heard).to.deep.equal(["one"]);
  });

  it("has the next part on its way as soon as one has come, while that is played, and no sooner", async () => {
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
        hear: async (piece) => {
          seen.push(asked());
          first.resolve();
          if (piece === "-" && seen.length === 2) await second.promise;
        },
      },
    );
    await client.speak(`${twoParts} ${"c".repeat(200)}.`);
    expect(seen[0]).to.deep.equal(["stream a"]);
    expect(seen[2]).to.deep.equal(["stream a", "stream b"]);
    expect(asked()).to.deep.equal(["stream a", "stream b", "stream c"]);
  });

  it("leaves the service as soon as it is cancelled", async () => {
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

  it("is silent where silence was asked for", async () => {
    await connect({
      stream: (_, res) => void res.writeHead(204, { "SVC-Prosody-Applied": "volume" }).end(),
    });
    expect(await client.speak("Nothing.", { volume: 0 })).to.deep.equal({ cancelled: false });
    expect(heard).to.deep.equal([]);
  });

  it("downloads whole what the service does not stream, and asks for no stream of that voice again", async () => {
    await connect({
      stream: ({ voice }, res) =>
        voice === "alloy" ? void start(res).end("streamed") : refuse(res, 404, "NOT_FOUND"),
      whole: (_, res) => void start(res).end("whole"),
    });
    await client.speak(twoParts, { voice: "UK English Female" });
    await client.speak("c", { voice: "UK English Female" });
    await client.speak("d", { voice: "alloy" });
    expect(heard).to.deep.equal(["whole", "whole", "whole", "streamed"]);
    expect(asked()).to.deep.equal(["stream a", "whole aa", "whole bb", "whole c", "stream d"]);
  });

  it("tells of a voice that is not there at all", async () => {
    await connect({
      stream: (_, res) => refuse(res, 404, "NOT_FOUND"),
      whole: (_, res) => refuse(res, 404, "NOT_FOUND"),
    });
    expect(await rejection(client.speak("a", { voice: "Nobody" }))).to.include({ code: "NOT_FOUND" });
    expect(asked()).to.deep.equal(["stream a", "whole a"]);
  });
});
