import type { lookup as resolve } from "node:dns";
import { once } from "node:events";
import type { Socket } from "node:net";
import { expect } from "chai";
import { wavHeader } from "../../../src/domain/synthesis/wav-header.ts";
import { createExchange, type UpstreamResponse } from "../../../src/engines/provider-http/exchange.ts";
import { UnprovenEnd, UpstreamFailed } from "../../../src/engines/provider-http/request-failed.ts";
import { readBody, readJson } from "../../../src/engines/provider-http/responses.ts";
import { createSsrfGuard } from "../../../src/engines/provider-http/ssrf-guard.ts";
import { duringTest } from "../../support/during.ts";
import { freePort } from "../../support/free-port.ts";
import { createManualTime, type ManualTime, until } from "../../support/manual-time.ts";
import { rejection } from "../../support/rejection.ts";
import { headOf, serveRaw } from "../../support/wire/raw-server.ts";

const never = new AbortController().signal;
const longDeadlines = { connectMs: 10_000, firstByteMs: 10_000, totalMs: 10_000 };
const guard = createSsrfGuard({ by: "operator" });

describe("An HTTP exchange", () => {
  const server = duringTest(() => serveRaw((socket, request) => response(socket, request)));
  let response: (socket: Socket, request: string) => void;

  const asking = (deadlines = longDeadlines) => {
    const exchange = createExchange({ guard, deadlines });
    return (signal = never): Promise<UpstreamResponse> =>
      exchange({ method: "POST", url: new URL("/say", server.url), headers: {}, body: "text" }, signal);
  };
  const received = async (exchanged: Promise<UpstreamResponse>): Promise<string> =>
    (await readBody(await exchanged, 1000)).toString();
  const failure = async (exchanged: Promise<unknown>): Promise<UpstreamFailed> => {
    const error = await rejection(exchanged);
    expect(error).to.be.instanceOf(UpstreamFailed);
    return error as UpstreamFailed;
  };

  it("returns status, headers and body of the response", async () => {
    response = (socket) => socket.write(`${headOf(418, { "Content-Length": "5", "X-Header": "yes" })}hello`);
    const { status, headers, body } = await asking()();
    expect({ status, value: headers["x-header"] }).to.deep.equal({ status: 418, value: "yes" });
    expect(
      String(
        await body[Symbol.asyncIterator]()
          .next()
          .then(({ value }) => value),
      ),
    ).to.equal("hello");
  });

  it("sends method, path, length and body, and requests no compression", async () => {
    let sent = "";
    response = (socket, request) => {
      sent = request;
      socket.write(headOf(200, { "Content-Length": "0" }));
    };
    await asking()();
    expect(sent).to.match(/^POST \/say HTTP\/1.1\r\nContent-Length: 4\r\n/);
    expect(sent).to.match(/\r\n\r\ntext$/);
    expect(sent).not.to.match(/accept-encoding/i);
  });

  it("reuses its connection", async () => {
    response = (socket) => socket.write(`${headOf(200, { "Content-Length": "5" })}hello`);
    const ask = asking();
    expect([await received(ask()), await received(ask())]).to.deep.equal(["hello", "hello"]);
    expect(server.connections()).to.equal(1);
  });

  it("follows no redirect", async () => {
    response = (socket) => socket.write(headOf(302, { Location: "/elsewhere", "Content-Length": "0" }));
    expect(await failure(asking()())).to.include({ stage: "answer", status: 302 });
    await server.idle();
  });

  it("reports a failed connection", async () => {
    const exchange = createExchange({ guard, deadlines: longDeadlines });
    const url = new URL(`http://127.0.0.1:${await freePort()}/say`);
    const error = await failure(exchange({ method: "GET", url, headers: {} }, never));
    expect(error).to.include({ stage: "connect", status: undefined });
    expect(error.message).to.equal("The speech provider cannot be reached (ECONNREFUSED).");
  });

  it("reports a failed connection when a kept-alive connection turns out to be closed", async () => {
    let requests = 0;
    response = (socket) => {
      if (++requests === 1) socket.write(`${headOf(200, { "Content-Length": "5" })}hello`);
      else socket.resetAndDestroy();
    };
    const ask = asking();
    await received(ask());
    expect(await failure(ask())).to.include({ stage: "connect" });
  });

  for (const [how, close] of Object.entries<(socket: Socket) => void>({
    closed: (socket) => socket.end(),
    reset: (socket) => socket.resetAndDestroy(),
    "answered in another protocol": (socket) => socket.end("SSH-2.0-Other\r\n"),
  })) {
    it(`reports a request without a response when its connection is ${how}`, async () => {
      response = close;
      expect(await failure(asking()())).to.include({ stage: "waiting", status: undefined });
    });
  }

  const ends: Readonly<Record<string, (socket: Socket) => void>> = {
    "is shorter than its Content-Length": (socket) =>
      socket.end(`${headOf(200, { "Content-Length": "9" })}hello`),
    "ends before its last chunk": (socket) =>
      socket.end(`${headOf(200, { "Transfer-Encoding": "chunked" })}5\r\nhello\r\n`),
    "ends within a chunk": (socket) =>
      socket.end(`${headOf(200, { "Transfer-Encoding": "chunked" })}9\r\nhello`),
    "has a malformed chunk": (socket) =>
      socket.end(`${headOf(200, { "Transfer-Encoding": "chunked" })}5\r\nhello\r\nnone\r\n`),
    "is reset although it is delimited by the end of the connection": (socket) => {
      socket.write(`${headOf(200, { Connection: "close" })}hello`, () =>
        setImmediate(() => socket.resetAndDestroy()),
      );
    },
  };
  for (const [how, write] of Object.entries(ends)) {
    it(`fails when a body ${how}`, async () => {
      response = write;
      const error = await failure(received(asking()()));
      expect(error).to.include({ stage: "answer", status: undefined });
    });
  }

  describe("with a body that ends with the connection", () => {
    const closing = (body: Buffer | string, status = 200): void => {
      response = (socket) => {
        socket.write(headOf(status, { Connection: "close" }));
        socket.end(body);
      };
    };
    const ogg = (flags: number, content = Buffer.alloc(300, 7)): Buffer => {
      const header = Buffer.alloc(29);
      header.write("OggS");
      header[5] = flags;
      header.set([2, 255, content.length - 255], 26);
      return Buffer.concat([header, content]);
    };
    const wav = wavHeader(24_000, 1000);
    const sound = Buffer.alloc(1000, 3);

    for (const [what, body] of [
      ["without a container", "hello"],
      ["an empty one", ""],
      ["Ogg without the flag of its last page", Buffer.concat([ogg(2), ogg(0)])],
      ["Ogg that ends within its last page", Buffer.concat([ogg(2), ogg(4)]).subarray(0, -1)],
      ["Ogg with foreign bytes after its last page", Buffer.concat([ogg(2), ogg(4), Buffer.from("hello")])],
      ["a WAV that is shorter than its header says", Buffer.concat([wav, sound.subarray(1)])],
      ["a WAV of unknown size", Buffer.concat([wavHeader(24_000, 0xffff_ffff - 36), sound])],
    ] as const) {
      it(`refuses it when its end is not proven: ${what}`, async () => {
        closing(body);
        const error = await failure(readBody(await asking()(), 10_000));
        expect(error).to.be.instanceOf(UnprovenEnd).and.include({ stage: "answer", status: undefined });
        expect(error.message).to.contain("no Content-Length, not chunked");
      });
    }

    for (const [what, body] of [
      ["Ogg with the flag of its last page", Buffer.concat([ogg(2), ogg(0), ogg(4)])],
      ["a WAV of the size in its header", Buffer.concat([wav, sound])],
    ] as const) {
      it(`accepts it when its container proves its end: ${what}`, async () => {
        for (const size of [1, 7, body.length]) {
          response = async (socket) => {
            socket.write(headOf(200, { Connection: "close" }));
            for (let at = 0; at < body.length; at += size)
              await new Promise((resolve) => socket.write(body.subarray(at, at + size), resolve));
            socket.end();
          };
          expect(body.equals(await readBody(await asking()(), 10_000))).to.equal(true);
        }
      });
    }

    it("accepts JSON, which cannot be parsed unless it is complete", async () => {
      closing('{"voices":[]}');
      expect(await readJson(await asking()())).to.deep.equal({ voices: [] });
      closing('{"voices":[');
      expect(await failure(readJson(await asking()()))).to.include({ stage: "answer" });
    });

    it("accepts the body of an error status, whatever its end", async () => {
      closing("no such voice", 404);
      expect(await received(asking()())).to.equal("no such voice");
    });
  });

  it("tolerates a response that is cut before it is read", async () => {
    let left: Promise<unknown> = Promise.resolve();
    response = (socket) => {
      left = once(socket, "close");
      socket.write(`${headOf(200, { "Content-Length": "9" })}hello`, () => socket.resetAndDestroy());
    };
    const exchanged = await asking()();
    await left;
    expect(await failure(readBody(exchanged, 1000))).to.include({ stage: "answer" });
  });

  describe("with deadlines", () => {
    const deadlines = { connectMs: 100, firstByteMs: 1_000, totalMs: 2_500 };
    let time: ManualTime;
    let ask: () => Promise<UpstreamResponse>;

    beforeEach(() => {
      time = createManualTime();
      const exchange = createExchange({ guard, deadlines, time });
      ask = () => exchange({ method: "GET", url: new URL(server.url), headers: {} }, never);
    });

    it("aborts when the connection is not established in time", async () => {
      // A name that is never resolved simulates a network that drops packets.
      const lost = createSsrfGuard({ by: "operator" }, { resolve: nowhere });
      const exchange = createExchange({ guard: lost, deadlines, time });
      const response = exchange({ method: "GET", url: new URL("http://lost.example/"), headers: {} }, never);
      time.advance(100);
      expect(await failure(response)).to.include({ stage: "connect" });
    });

    it("aborts when the response does not start in time", async () => {
      const received = new Promise<void>((resolve) => {
        response = () => resolve();
      });
      const exchanged = ask();
      await received;
      time.advance(1_000);
      expect(await failure(exchanged)).to.include({ stage: "waiting" });
      await server.idle();
    });

    it("aborts a response that stops sending data", async () => {
      response = (socket) => socket.write(`${headOf(200, { "Content-Length": "9" })}hello`);
      const { body } = await ask();
      const pieces = body[Symbol.asyncIterator]();
      await pieces.next();
      const next = pieces.next();
      await until(() => time.waiting() > 0);
      time.advance(1_000);
      expect(await failure(next)).to.include({ stage: "answer" });
      await server.idle();
    });

    it("aborts a response that exceeds the total time of waiting for data", async () => {
      let drip = () => true;
      response = (socket) => {
        drip = () => socket.write("1\r\nx\r\n");
        socket.write(headOf(200, { "Transfer-Encoding": "chunked" }));
      };
      const { body } = await ask();
      const pieces = body[Symbol.asyncIterator]();
      const wait = async (ms: number) => {
        const next = pieces.next();
        await until(() => time.waiting() > 0);
        time.advance(ms);
        drip();
        return next;
      };
      for (const ms of [900, 900]) expect((await wait(ms)).done).to.equal(false);
      expect(await failure(wait(700))).to.include({ stage: "answer" });
      await server.idle();
    });

    it("has no deadline for the reader", async () => {
      let finish = () => true;
      response = (socket) => {
        finish = () => socket.write("5\r\nworld\r\n0\r\n\r\n");
        socket.write(`${headOf(200, { "Transfer-Encoding": "chunked" })}5\r\nhello\r\n`);
      };
      const { body } = await ask();
      const words: string[] = [];
      for await (const word of body) {
        words.push(word.toString());
        expect(time.waiting()).to.equal(0);
        time.advance(1_000_000);
        if (words.length === 1) finish();
      }
      expect(words).to.deep.equal(["hello", "world"]);
    });

    it("leaves no timer behind", async () => {
      response = (socket) => socket.write(`${headOf(200, { "Content-Length": "5" })}hello`);
      expect(await received(ask())).to.equal("hello");
      await until(() => time.waiting() === 0);
    });
  });

  it("reads only as much as the reader requests", async () => {
    const much = Buffer.alloc(64 * 1024 * 1024);
    let held: Socket | undefined;
    response = (socket) => {
      held = socket;
      socket.write(headOf(200, { "Content-Length": String(much.length) }));
      socket.write(much);
    };
    const { body } = await asking()();
    const pieces = body[Symbol.asyncIterator]();
    await pieces.next();
    expect(held?.writableLength).to.be.above(much.length / 2);
    await pieces.return?.();
    await server.idle();
  });

  describe("whose signal is aborted", () => {
    const reason = new Error("the caller left");

    it("sends no request when the signal is already aborted", async () => {
      expect(await rejection(asking()(AbortSignal.abort(reason)))).to.equal(reason);
      expect(server.connections()).to.equal(0);
    });

    it("is aborted while it waits for the response", async () => {
      const leaving = new AbortController();
      response = () => leaving.abort(reason);
      expect(await rejection(asking()(leaving.signal))).to.equal(reason);
      await server.idle();
    });

    it("is aborted while the body is read, and throws the signal's reason", async () => {
      const leaving = new AbortController();
      response = (socket) => socket.write(`${headOf(200, { "Content-Length": "9" })}hello`);
      const { body } = await asking()(leaving.signal);
      const pieces = body[Symbol.asyncIterator]();
      await pieces.next();
      leaving.abort(reason);
      expect(await rejection(pieces.next())).to.equal(reason);
      await server.idle();
    });

    it("is aborted before the response body is read", async () => {
      const leaving = new AbortController();
      response = (socket) => socket.write(`${headOf(200, { "Content-Length": "9" })}hello`);
      const exchanged = await asking()(leaving.signal);
      leaving.abort(reason);
      await server.idle();
      expect(await rejection(readBody(exchanged, 1000))).to.equal(reason);
    });

    it("is aborted when its reader leaves", async () => {
      response = (socket) => socket.write(`${headOf(200, { "Content-Length": "9" })}hello`);
      const { body } = await asking()();
      for await (const _ of body) break;
      await server.idle();
    });
  });
});

const nowhere = (() => undefined) as unknown as typeof resolve;
