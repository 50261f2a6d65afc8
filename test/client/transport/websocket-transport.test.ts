import { once } from "node:events";
import { expect } from "chai";
import type { WebSocket as ServerSocket } from "ws";
import { openSpeechSocket } from "../../../src/client/transport/speech-socket.ts";
import { Voxledger } from "../../../src/client/voxledger.ts";
import { nextEvent, recordEvents } from "../../support/client-library/recorded-events.ts";
import {
  type SocketSynthesis,
  type StubBehaviour,
  type StubStreamingService,
  startStubStreamingService,
} from "../../support/client-library/stub-streaming-service.ts";
import { rejection } from "../../support/rejection.ts";
import { streamingPlayer } from "./streaming-player.ts";

const start = { type: "stream_start", contentType: "audio/mpeg", prosodyApplied: [] };
const error = (code: string | undefined, retryable: boolean, more: object = {}) => ({
  type: "error",
  message: `it was ${code}`,
  retryable,
  ...(code && { code }),
  ...more,
});
const twoParts = `${"a".repeat(200)}. ${"b".repeat(200)}.`;

/** Says all of a sound at once. */
const say = ({ send, sendFrame }: SocketSynthesis, ...pieces: string[]): void => {
  send(start);
  for (const [index, piece] of pieces.entries()) sendFrame(index, Buffer.from(piece));
  send({ type: "stream_end", totalBytes: pieces.join("").length, totalChunks: pieces.length });
};

describe("the client library's transport websocket", () => {
  let service: StubStreamingService;
  let client: Voxledger;
  let heard: string[];
  let waits: number[];

  const connect = async (
    behaviour: StubBehaviour,
    {
      hear = (piece: string): void => void heard.push(piece),
      given = {},
      timeout = 5_000,
      credentials = { apiKey: "k", apiSecret: "s" } as { apiKey: string },
    } = {},
  ): Promise<void> => {
    service = await startStubStreamingService(behaviour);
    client = new Voxledger(
      { ...credentials, baseUrl: service.url, transport: "websocket", timeout },
      { player: streamingPlayer(hear), random: () => 0, sleep: async (ms) => void waits.push(ms), ...given },
    );
  };
  const asked = (): string[] => service.requests.map((line) => line.slice(0, 8));
  const theSocket = (): ServerSocket => [...service.sockets][0] as ServerSocket;

  beforeEach(() => {
    heard = [];
    waits = [];
  });
  afterEach(async () => {
    client.close();
    await service.close();
  });

  it("hands each piece on while the rest is still to come", async () => {
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
        hear: (piece) => {
          heard.push(piece);
          first.resolve();
        },
      },
    );
    expect(await client.speak("Hello.")).to.deep.equal({ cancelled: false });
    expect(heard).to.deep.equal(["one", "two"]);
  });

  it("asks in the voice and with the knobs that are wanted, under an id of its own", async () => {
    const requests: SocketSynthesis[] = [];
    await connect({
      synthesize: (asked) => {
        requests.push(asked);
        say(asked, "sound");
      },
    });
    await client.speak("Hello.", { voice: "alloy", volume: 0.5 });
    await client.speak("Hello.", { lang: "en-US" });
    expect(requests.map(({ request }) => request)).to.deep.equal([
      { text: "Hello.", voice: "alloy", volume: 0.5 },
      { text: "Hello.", lang: "en-US" },
    ]);
    const [one, other] = requests.map(({ id }) => id);
    expect(one).to.match(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    expect(other).to.not.equal(one);
  });

  it("keeps one connection for all that is spoken, proven by a token and never by the secret", async () => {
    await connect({ synthesize: (asked) => say(asked, "sound") });
    await client.speak(twoParts);
    await client.speak("c");
    expect(service.requests.map((line) => line.slice(0, 22))).to.deep.equal([
      "connect ?token=token-1",
      `socket ${"a".repeat(15)}`,
      `socket ${"b".repeat(15)}`,
      "socket c",
    ]);
  });

  it("connects again when the connection was dropped between two speeches", async () => {
    await connect({ synthesize: (asked) => say(asked, "sound") });
    await client.speak("a");
    theSocket().terminate();
    await client.speak("b");
    expect(asked()).to.deep.equal(["connect ", "socket a", "connect ", "socket b"]);
  });

  it("asks again over another connection when one is lost before anything was heard", async () => {
    let times = 0;
    await connect({
      synthesize: (asked) => {
        if (times++ > 0) return say(asked, "sound");
        asked.send(start);
        asked.socket.terminate();
      },
    });
    await client.speak("a");
    expect(heard).to.deep.equal(["sound"]);
    expect(asked()).to.deep.equal(["connect ", "socket a", "connect ", "socket a"]);
  });

  /** What goes wrong after the first piece was heard: never made good, and never taken for a whole sound. */
  const faults: Record<string, [(asked: SocketSynthesis) => void, object]> = {
    "a lost connection": [({ socket }) => socket.terminate(), { code: "NETWORK" }],
    "a missing piece": [({ sendFrame }) => sendFrame(2, Buffer.from("three")), { code: "NETWORK" }],
    "a piece told twice": [({ sendFrame }) => sendFrame(0, Buffer.from("one")), { code: "NETWORK" }],
    "an end too soon": [
      ({ send }) => send({ type: "stream_end", totalBytes: 6, totalChunks: 2 }),
      { code: "NETWORK" },
    ],
    "a failure upstream": [({ send }) => send(error(undefined, true)), { message: "it was undefined" }],
  };
  for (const [fault, [happen, failure]] of Object.entries(faults)) {
    it(`takes a sound with ${fault} for a failure, and does not ask for it again`, async () => {
      const sound = Promise.withResolvers<SocketSynthesis>();
      await connect(
        {
          synthesize: (asked) => {
            asked.send(start);
            asked.sendFrame(0, Buffer.from("one"));
            sound.resolve(asked);
          },
        },
        {
          hear: (piece) => {
            heard.push(piece);
            void sound.promise.then(happen);
          },
        },
      );
      const told = recordEvents(client);
      expect(await rejection(client.speak("Hello."))).to.deep.include(failure);
      expect(heard).to.deep.equal(["one"]);
      expect(asked().filter((line) => line === "socket H")).to.have.length(1);
      expect(told.map(({ type }) => type))
        .to.include("OnError")
        .and.not.include("OnPartEnd");
    });
  }

  it("lets the service stop making what it has given up", async () => {
    const cancelled = Promise.withResolvers<string>();
    const ids: string[] = [];
    await connect({
      synthesize: (asked) => {
        ids.push(asked.id);
        asked.send(start);
        asked.sendFrame(1, Buffer.from("two"));
      },
      cancelled: cancelled.resolve,
    });
    const speaking = client.speak("Hello.");
    expect(await cancelled.promise).to.equal(ids[0]);
    client.cancel();
    await speaking;
  });

  it("asks again, as late as it is told, while nothing has been heard and the service says that it may help", async () => {
    const answers = [
      error("RATE_LIMIT_EXCEEDED", true, { retryAfterSeconds: 7 }),
      error(undefined, true),
      undefined,
    ];
    await connect({
      synthesize: (asked) => {
        const answer = answers.shift();
        if (answer) asked.send(answer);
        else say(asked, "sound");
      },
    });
    await client.speak("Hello.");
    expect(heard).to.deep.equal(["sound"]);
    expect(waits).to.deep.equal([7_000, 0]);
    expect(service.sockets.size).to.equal(1);
  });

  it("tells at once what is not going to change, with all that was wrong", async () => {
    const errors = [{ path: ["text"], message: "too long" }];
    await connect({ synthesize: ({ send }) => send(error("VALIDATION_ERROR", false, { errors })) });
    expect(await rejection(client.speak("Hello."))).to.deep.include({
      code: "VALIDATION_ERROR",
      message: "it was VALIDATION_ERROR",
      errors,
    });
    expect(waits).to.deep.equal([]);
  });

  it("cancels what is no longer wanted, and keeps the connection for the next", async () => {
    const cancelled = Promise.withResolvers<string>();
    const ids: string[] = [];
    await connect({
      synthesize: (asked) => {
        ids.push(asked.id);
        if (ids.length === 2) return say(asked, "sound");
        asked.send(start);
        asked.sendFrame(0, Buffer.from("one"));
      },
      cancelled: cancelled.resolve,
    });
    const first = client.speak("a");
    await nextEvent(client, "OnStart");
    client.cancel();
    expect(await first).to.deep.equal({ cancelled: true });
    expect(await cancelled.promise).to.equal(ids[0]);
    await client.speak("b");
    expect(asked()).to.deep.equal(["connect ", "socket a", "cancel", "socket b"]);
  });

  describe("where its handshake is refused", () => {
    let now: number;
    /** A clock that moves when the library waits. */
    const clock = () => ({
      now: () => now,
      random: () => 0.5,
      sleep: async (ms: number) => {
        waits.push(ms);
        now += ms;
      },
    });
    const connects = (): string[] => service.requests.filter((line) => line.startsWith("connect"));
    beforeEach(() => {
      now = Date.now();
    });

    it("gets another token at once, since the token may be the reason", async () => {
      let times = 0;
      await connect(
        {
          refuse: () => (times++ === 0 ? { status: 403, code: "REFUSED" } : undefined),
          synthesize: (asked) => say(asked, "sound"),
        },
        { given: clock() },
      );
      await client.speak("a");
      expect(service.requests).to.deep.equal([
        "connect ?token=token-1",
        "refresh",
        "connect ?token=token-2",
        "socket a",
      ]);
      expect(waits).to.deep.equal([]);
    });

    for (const [status, code] of [
      [401, "UNAUTHORIZED"],
      [403, "KEY_SUSPENDED"],
    ] as const) {
      it(`fails with the ${status} that an ordinary request shows, and does not connect again`, async () => {
        const refusal = { status, code };
        // Node's own WebSocket repeats a handshake that is answered with 401.
        const refuse = () => ({ status: 403, code: "REFUSED" });
        await connect({ refuse, refuseRefresh: () => refusal }, { given: clock() });
        expect(await rejection(client.speak("a"))).to.include({ status, code, message: `it was ${code}` });
        expect(connects()).to.have.length(1);
        expect(waits).to.deep.equal([]);
      });
    }

    it("waits as long as the 429 of an ordinary request says", async () => {
      const limited = { status: 429, code: "RATE_LIMIT_EXCEEDED", retryAfter: 7 };
      let refusals = 0;
      await connect(
        {
          refuse: () => (refusals++ === 0 ? limited : undefined),
          refuseRefresh: () => limited,
          synthesize: (asked) => say(asked, "sound"),
        },
        { given: clock() },
      );
      await client.speak("a");
      expect(waits).to.deep.equal([7_000]);
      expect(connects()).to.have.length(2);
      expect(heard).to.deep.equal(["sound"]);
    });

    it("backs off where no request shows why, and gives up with an error that names the possible reasons", async () => {
      await connect({ refuse: () => ({ status: 429, code: "TOO_MANY_SOCKETS" }) }, { given: clock() });
      const error = await rejection(client.speak("a"));
      expect(error).to.include({ code: "NETWORK" });
      expect((error as Error).message).to.match(/proxy refuses it, or the key has too many sockets open/);
      expect(waits).to.have.length(3);
      expect(waits.every((ms, index) => ms > Number(waits[index - 1] ?? 0))).to.equal(true);
      expect(connects()).to.have.length(5);
    });

    /** Speaks 49 times in 5 seconds; each speech cancels the one before, which waits to try again. */
    const speakOften = async (behaviour: StubBehaviour): Promise<void> => {
      let asleep = Promise.withResolvers<void>();
      const sleep = (): Promise<void> => {
        asleep.resolve();
        return new Promise(() => {});
      };
      await connect(behaviour, { given: { ...clock(), sleep } });
      for (let speeches = 0; speeches < 49; speeches++) {
        asleep = Promise.withResolvers();
        void client.speak(`speech ${speeches}`);
        await asleep.promise;
        now += 100;
      }
    };

    it("connects a few times in 5 seconds, not once for each of 49 speeches", async () => {
      await speakOften({ refuse: () => ({ status: 503, code: "UNAVAILABLE" }) });
      expect(connects().length).to.be.within(2, 8);
    });

    it("does not connect before Retry-After has passed, however often a page speaks", async () => {
      const limited = { status: 429, code: "RATE_LIMIT_EXCEEDED", retryAfter: 5 };
      await speakOften({ refuse: () => limited, refuseRefresh: () => limited });
      expect(connects()).to.have.length(1);
    });
  });

  it("gives up a connection that is silent, and makes another for the next speech", async () => {
    let times = 0;
    await connect(
      {
        synthesize: (asked) => {
          if (times++ > 0) say(asked, "sound");
        },
      },
      { timeout: 1_000 },
    );
    expect(await rejection(client.speak("a"))).to.include({ code: "TIMEOUT" });
    await client.speak("b");
    expect(asked().filter((line) => line !== "cancel")).to.deep.equal([
      "connect ",
      "socket a",
      "connect ",
      "socket b",
    ]);
  });

  it("downloads whole what the service does not stream, and asks for no stream of that voice again", async () => {
    await connect({
      synthesize: ({ send }) => send(error("NOT_FOUND", false)),
      whole: (_, res) => void res.writeHead(200, { "Content-Type": "audio/mpeg" }).end("whole"),
    });
    await client.speak(twoParts, { lang: "cy-GB" });
    expect(heard).to.deep.equal(["whole", "whole"]);
    expect(asked()).to.deep.equal(["connect ", "socket a", "whole aa", "whole bb"]);
  });

  it("is silent where silence was asked for", async () => {
    await connect({ synthesize: (asked) => say(asked) });
    expect(await client.speak("Nothing.", { volume: 0 })).to.deep.equal({ cancelled: false });
    expect(heard).to.deep.equal([]);
  });

  it("shows the key where there is no token, for the page's origin to prove", async () => {
    await connect(
      { synthesize: (asked) => say(asked, "sound") },
      {
        credentials: { apiKey: "k" },
        given: {
          fetch: async () => Response.json({ voice: { name: "A", pitch: 1, rate: 1, volume: 1 } }),
        },
      },
    );
    await client.speak("a");
    expect(asked()).to.deep.equal(["connect ", "socket a"]);
    expect(service.requests[0]).to.equal("connect ?key=k");
  });

  it("ends the connection when the library is closed", async () => {
    await connect({ synthesize: (asked) => say(asked, "sound") });
    await client.speak("a");
    const ended = once(theSocket(), "close");
    client.close();
    await ended;
  });

  it("ends a connection over which nothing was spoken for a while", async () => {
    await connect({ synthesize: (asked) => say(asked, "sound") });
    const closed = Promise.withResolvers<void>();
    const socket = openSpeechSocket({
      WebSocket,
      url: `${service.url.replace("http", "ws")}/v2/text/stream`,
      timeout: 5_000,
      idleMs: 1,
      onServed: () => {},
      onClosed: () => closed.resolve(),
    });
    await socket.synthesize({ text: "a" }, new AbortController().signal);
    await closed.promise;
  });

  it("needs a WebSocket", async () => {
    await connect({}, { given: { WebSocket: undefined } });
    expect(await rejection(client.speak("a"))).to.include({ code: "NOT_SUPPORTED" });
  });
});
