import { once } from "node:events";
import { expect } from "chai";
import type { WebSocket as ServerSocket } from "ws";
import { SpeechSocket } from "../../../src/client/transport/speech-socket.ts";
import { Voxledger } from "../../../src/client/voxledger.ts";
import { nextEvent, recordEvents } from "../../support/client-library/recorded-events.ts";
import {
  type SocketSynthesis,
  type StubBehaviour,
  type StubStreamingService,
  startStubStreamingService,
} from "../../support/client-library/stub-streaming-service.ts";
import { createManualTime, type ManualTime } from "../../support/manual-time.ts";
import { rejection } from "../../support/rejection.ts";
import { streamingPlayer } from "./streaming-player.ts";

const start = { type: "stream_start", contentType: "audio/mpeg", prosodyApplied: [] };
const error = (code: string | undefined, retryable: boolean, more: object = {}) => ({
  type: "error",
  message: `code ${code}`,
  retryable,
  ...(code && { code }),
  ...more,
});
const twoParts = `${"a".repeat(200)}. ${"b".repeat(200)}.`;

/** Sends a complete stream. */
const sendAudio = ({ send, sendFrame }: SocketSynthesis, ...chunks: string[]): void => {
  send(start);
  for (const [index, chunk] of chunks.entries()) sendFrame(index, Buffer.from(chunk));
  send({ type: "stream_end", totalBytes: chunks.join("").length, totalChunks: chunks.length });
};

describe("the WebSocket transport of the client library", () => {
  let service: StubStreamingService;
  let client: Voxledger;
  let played: string[];
  let delays: number[];
  let time: ManualTime;

  const connect = async (
    behaviour: StubBehaviour,
    {
      onChunk = (chunk: string): void => void played.push(chunk),
      overrides = {},
      credentials = { apiKey: "k", apiSecret: "s" } as { apiKey: string },
    } = {},
  ): Promise<void> => {
    service = await startStubStreamingService(behaviour);
    client = new Voxledger(
      { ...credentials, baseUrl: service.url, transport: "websocket" },
      {
        player: streamingPlayer(onChunk),
        startTimer: time.after,
        random: () => 0,
        sleep: async (ms) => void delays.push(ms),
        ...overrides,
      },
    );
  };
  const requests = (): string[] => service.requests.map((line) => line.slice(0, 8));
  const serverSocket = (): ServerSocket => [...service.sockets][0] as ServerSocket;

  beforeEach(() => {
    played = [];
    delays = [];
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
        synthesize: async ({ send, sendFrame }) => {
          send({ ...start, prosodyApplied: ["rate"] });
          sendFrame(0, Buffer.from("one"));
          await first.promise;
          sendFrame(1, Buffer.from("two"));
          send({ type: "stream_end", totalBytes: 6, totalChunks: 2 });
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

  it("sends the voice, the prosody and a new UUID with each request", async () => {
    const syntheses: SocketSynthesis[] = [];
    await connect({
      synthesize: (synthesis) => {
        syntheses.push(synthesis);
        sendAudio(synthesis, "sound");
      },
    });
    await client.speak("Hello.", { voice: "alloy", volume: 0.5 });
    await client.speak("Hello.", { lang: "en-US" });
    expect(syntheses.map(({ request }) => request)).to.deep.equal([
      { text: "Hello.", voice: "alloy", volume: 0.5 },
      { text: "Hello.", lang: "en-US" },
    ]);
    const [one, other] = syntheses.map(({ id }) => id);
    expect(one).to.match(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    expect(other).to.not.equal(one);
  });

  it("uses one connection for all speeches, authenticated with a token and never with the secret", async () => {
    await connect({ synthesize: (synthesis) => sendAudio(synthesis, "sound") });
    await client.speak(twoParts);
    await client.speak("c");
    expect(service.requests.map((line) => line.slice(0, 22))).to.deep.equal([
      "connect ?token=token-1",
      `socket ${"a".repeat(15)}`,
      `socket ${"b".repeat(15)}`,
      "socket c",
    ]);
  });

  it("reconnects when the connection was lost between two speeches", async () => {
    await connect({ synthesize: (synthesis) => sendAudio(synthesis, "sound") });
    await client.speak("a");
    serverSocket().terminate();
    await client.speak("b");
    expect(requests()).to.deep.equal(["connect ", "socket a", "connect ", "socket b"]);
  });

  it("retries over a new connection when one is lost before the first chunk", async () => {
    let times = 0;
    await connect({
      synthesize: (synthesis) => {
        if (times++ > 0) return sendAudio(synthesis, "sound");
        synthesis.send(start);
        synthesis.socket.terminate();
      },
    });
    await client.speak("a");
    expect(played).to.deep.equal(["sound"]);
    expect(requests()).to.deep.equal(["connect ", "socket a", "connect ", "socket a"]);
  });

  /** Faults after the first chunk: never retried, and never taken for complete audio. */
  const faults: Record<string, [(synthesis: SocketSynthesis) => void, object]> = {
    "a lost connection": [({ socket }) => socket.terminate(), { code: "NETWORK" }],
    "a missing chunk": [({ sendFrame }) => sendFrame(2, Buffer.from("three")), { code: "NETWORK" }],
    "a repeated chunk": [({ sendFrame }) => sendFrame(0, Buffer.from("one")), { code: "NETWORK" }],
    "an end before its last chunk": [
      ({ send }) => send({ type: "stream_end", totalBytes: 6, totalChunks: 2 }),
      { code: "NETWORK" },
    ],
    "a provider error": [({ send }) => send(error(undefined, true)), { message: "code undefined" }],
  };
  for (const [fault, [happen, failure]] of Object.entries(faults)) {
    it(`fails on ${fault} after the first chunk, and does not retry`, async () => {
      const sound = Promise.withResolvers<SocketSynthesis>();
      await connect(
        {
          synthesize: (synthesis) => {
            synthesis.send(start);
            synthesis.sendFrame(0, Buffer.from("one"));
            sound.resolve(synthesis);
          },
        },
        {
          onChunk: (chunk) => {
            played.push(chunk);
            void sound.promise.then(happen);
          },
        },
      );
      const events = recordEvents(client);
      expect(await rejection(client.speak("Hello."))).to.deep.include(failure);
      expect(played).to.deep.equal(["one"]);
      expect(requests().filter((line) => line === "socket H")).to.have.length(1);
      expect(events.map(({ type }) => type))
        .to.include("OnError")
        .and.not.include("OnPartEnd");
    });
  }

  it("cancels a synthesis whose stream is invalid", async () => {
    const cancelled = Promise.withResolvers<string>();
    const ids: string[] = [];
    await connect({
      synthesize: (synthesis) => {
        ids.push(synthesis.id);
        synthesis.send(start);
        synthesis.sendFrame(1, Buffer.from("two"));
      },
      cancelled: cancelled.resolve,
    });
    const speaking = client.speak("Hello.");
    expect(await cancelled.promise).to.equal(ids[0]);
    client.cancel();
    await speaking;
  });

  it("retries a retryable error after its delay while no chunk has been received", async () => {
    const responses = [
      error("RATE_LIMIT_EXCEEDED", true, { retryAfterSeconds: 7 }),
      error(undefined, true),
      undefined,
    ];
    await connect({
      synthesize: (synthesis) => {
        const response = responses.shift();
        if (response) synthesis.send(response);
        else sendAudio(synthesis, "sound");
      },
    });
    await client.speak("Hello.");
    expect(played).to.deep.equal(["sound"]);
    expect(delays).to.deep.equal([7_000, 0]);
    expect(service.sockets.size).to.equal(1);
  });

  it("throws an error that is not retryable at once, with its validation errors", async () => {
    const errors = [{ path: ["text"], message: "too long" }];
    await connect({ synthesize: ({ send }) => send(error("VALIDATION_ERROR", false, { errors })) });
    expect(await rejection(client.speak("Hello."))).to.deep.include({
      code: "VALIDATION_ERROR",
      message: "code VALIDATION_ERROR",
      errors,
    });
    expect(delays).to.deep.equal([]);
  });

  it("cancels the synthesis of a cancelled speech, and reuses the connection", async () => {
    const cancelled = Promise.withResolvers<string>();
    const ids: string[] = [];
    await connect({
      synthesize: (synthesis) => {
        ids.push(synthesis.id);
        if (ids.length === 2) return sendAudio(synthesis, "sound");
        synthesis.send(start);
        synthesis.sendFrame(0, Buffer.from("one"));
      },
      cancelled: cancelled.resolve,
    });
    const first = client.speak("a");
    await nextEvent(client, "OnStart");
    client.cancel();
    expect(await first).to.deep.equal({ cancelled: true });
    expect(await cancelled.promise).to.equal(ids[0]);
    await client.speak("b");
    expect(requests()).to.deep.equal(["connect ", "socket a", "cancel", "socket b"]);
  });

  describe("after a refused handshake", () => {
    let now: number;
    /** A clock that `sleep` advances. */
    const movingClock = () => ({
      now: () => now,
      random: () => 0.5,
      sleep: async (ms: number) => {
        delays.push(ms);
        now += ms;
      },
    });
    const handshakes = (): string[] => service.requests.filter((line) => line.startsWith("connect"));
    beforeEach(() => {
      now = Date.now();
    });

    it("refreshes the token and reconnects at once", async () => {
      let times = 0;
      await connect(
        {
          refuse: () => (times++ === 0 ? { status: 403, code: "REFUSED" } : undefined),
          synthesize: (synthesis) => sendAudio(synthesis, "sound"),
        },
        { overrides: movingClock() },
      );
      await client.speak("a");
      expect(service.requests).to.deep.equal([
        "connect ?token=token-1",
        "refresh",
        "connect ?token=token-2",
        "socket a",
      ]);
      expect(delays).to.deep.equal([]);
    });

    for (const [status, code] of [
      [401, "UNAUTHORIZED"],
      [403, "KEY_SUSPENDED"],
    ] as const) {
      it(`fails with the ${status} of the token request, and does not reconnect`, async () => {
        const refusal = { status, code };
        // Node's own WebSocket repeats a handshake that gets 401.
        const refuse = () => ({ status: 403, code: "REFUSED" });
        await connect({ refuse, refuseRefresh: () => refusal }, { overrides: movingClock() });
        expect(await rejection(client.speak("a"))).to.include({ status, code, message: `code ${code}` });
        expect(handshakes()).to.have.length(1);
        expect(delays).to.deep.equal([]);
      });
    }

    it("waits for the Retry-After of the token request's 429", async () => {
      const limited = { status: 429, code: "RATE_LIMIT_EXCEEDED", retryAfter: 7 };
      let refusals = 0;
      await connect(
        {
          refuse: () => (refusals++ === 0 ? limited : undefined),
          refuseRefresh: () => limited,
          synthesize: (synthesis) => sendAudio(synthesis, "sound"),
        },
        { overrides: movingClock() },
      );
      await client.speak("a");
      expect(delays).to.deep.equal([7_000]);
      expect(handshakes()).to.have.length(2);
      expect(played).to.deep.equal(["sound"]);
    });

    it("backs off if the token request succeeds, and throws an error that names the possible reasons at last", async () => {
      await connect(
        { refuse: () => ({ status: 429, code: "TOO_MANY_SOCKETS" }) },
        { overrides: movingClock() },
      );
      const error = await rejection(client.speak("a"));
      expect(error).to.include({ code: "NETWORK" });
      expect((error as Error).message).to.match(/proxy refuses it, or the key has too many sockets open/);
      expect(delays).to.have.length(3);
      expect(delays.every((ms, index) => ms > Number(delays[index - 1] ?? 0))).to.equal(true);
      expect(handshakes()).to.have.length(5);
    });

    /**
     * Speaks 49 times in 5 seconds; each speech cancels the previous one, which waits for its
     * retry.
     */
    const speakOften = async (behaviour: StubBehaviour): Promise<void> => {
      let sleeping = Promise.withResolvers<void>();
      const sleep = (): Promise<void> => {
        sleeping.resolve();
        return new Promise(() => {});
      };
      await connect(behaviour, { overrides: { ...movingClock(), sleep } });
      for (let speeches = 0; speeches < 49; speeches++) {
        sleeping = Promise.withResolvers();
        void client.speak(`speech ${speeches}`);
        await sleeping.promise;
        now += 100;
      }
    };

    it("makes 2 to 8 handshakes in 5 seconds, not one for each of 49 speeches", async () => {
      await speakOften({ refuse: () => ({ status: 503, code: "UNAVAILABLE" }) });
      expect(handshakes().length).to.be.within(2, 8);
    });

    it("does not reconnect before Retry-After has passed, for any number of speeches", async () => {
      const limited = { status: 429, code: "RATE_LIMIT_EXCEEDED", retryAfter: 5 };
      await speakOften({ refuse: () => limited, refuseRefresh: () => limited });
      expect(handshakes()).to.have.length(1);
    });
  });

  it("closes a silent connection after the timeout, and reconnects for the next speech", async () => {
    let times = 0;
    const requested = Promise.withResolvers<void>();
    await connect({
      synthesize: (synthesis) => {
        if (times++ > 0) sendAudio(synthesis, "sound");
        else requested.resolve();
      },
    });
    const failure = rejection(client.speak("a"));
    await requested.promise;
    time.advance(30_000);
    expect(await failure).to.include({ code: "TIMEOUT" });
    await client.speak("b");
    expect(requests().filter((line) => line !== "cancel")).to.deep.equal([
      "connect ",
      "socket a",
      "connect ",
      "socket b",
    ]);
  });

  it("downloads voices that the service does not stream, and remembers them", async () => {
    await connect({
      synthesize: ({ send }) => send(error("NOT_FOUND", false)),
      download: (_, res) => void res.writeHead(200, { "Content-Type": "audio/mpeg" }).end("downloaded"),
    });
    await client.speak(twoParts, { lang: "cy-GB" });
    expect(played).to.deep.equal(["downloaded", "downloaded"]);
    expect(requests()).to.deep.equal(["connect ", "socket a", "download", "download"]);
  });

  it("plays nothing for volume 0", async () => {
    await connect({ synthesize: (synthesis) => sendAudio(synthesis) });
    expect(await client.speak("Nothing.", { volume: 0 })).to.deep.equal({ cancelled: false });
    expect(played).to.deep.equal([]);
  });

  it("authenticates with the key if there is no token", async () => {
    await connect(
      { synthesize: (synthesis) => sendAudio(synthesis, "sound") },
      {
        credentials: { apiKey: "k" },
        overrides: {
          fetch: async () => Response.json({ voice: { name: "A", pitch: 1, rate: 1, volume: 1 } }),
        },
      },
    );
    await client.speak("a");
    expect(requests()).to.deep.equal(["connect ", "socket a"]);
    expect(service.requests[0]).to.equal("connect ?key=k");
  });

  it("closes the connection when the library is closed", async () => {
    await connect({ synthesize: (synthesis) => sendAudio(synthesis, "sound") });
    await client.speak("a");
    const ended = once(serverSocket(), "close");
    client.close();
    await ended;
  });

  it("closes an idle connection", async () => {
    await connect({ synthesize: (synthesis) => sendAudio(synthesis, "sound") });
    const closed = Promise.withResolvers<void>();
    const socket = new SpeechSocket({
      WebSocket,
      url: `${service.url.replace("http", "ws")}/v2/text/stream`,
      timeout: 5_000,
      idleMs: 60_000,
      startTimer: time.after,
      onMessage: () => {},
      onClosed: () => closed.resolve(),
    });
    const { received } = await socket.synthesize({ text: "a" }, new AbortController().signal);
    await received;
    time.advance(60_000);
    await closed.promise;
  });

  it("fails with NOT_SUPPORTED without a WebSocket", async () => {
    await connect({}, { overrides: { WebSocket: undefined } });
    expect(await rejection(client.speak("a"))).to.include({ code: "NOT_SUPPORTED" });
  });
});
