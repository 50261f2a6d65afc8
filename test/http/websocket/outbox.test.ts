import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { WebSocket, WebSocketServer } from "ws";
import { createInbox } from "../../../src/http/websocket/inbox.ts";
import { createOutbox, highWaterBytes, type Outbox } from "../../../src/http/websocket/outbox.ts";
import { duringTest } from "../../support/during.ts";

const frameBytes = 64 * 1024;
const never = new AbortController().signal;

/** Both ends of a WebSocket over the loopback. */
const openPair = async () => {
  const server = new WebSocketServer({
    ...{ port: 0, host: "127.0.0.1" },
    ...{ perMessageDeflate: false, allowSynchronousEvents: false },
  });
  await once(server, "listening");
  const clientSocket = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`, {
    perMessageDeflate: false,
  });
  const [[serverSocket]] = (await Promise.all([once(server, "connection"), once(clientSocket, "open")])) as [
    [WebSocket],
    unknown,
  ];
  return {
    serverSocket,
    clientSocket,
    close: () => {
      clientSocket.terminate();
      serverSocket.terminate();
      server.close();
    },
  };
};

describe("the outbox and the inbox of a socket", () => {
  const pair = duringTest(openPair);
  let outbox: Outbox;
  let onDrained: () => void;

  beforeEach(async () => {
    onDrained = () => {};
    outbox = createOutbox(pair.serverSocket, { onBuffered: () => {}, onDrained: () => onDrained() });
  });

  /** Sends until the outbox is full; the client reads nothing. */
  const fill = async (): Promise<number> => {
    pair.clientSocket.pause();
    let sent = 0;
    for (; !outbox.isFull(); sent++) await outbox.sendFrame(() => Buffer.alloc(frameBytes), never);
    return sent;
  };

  it("buffers at most its high water mark and one frame for a client that does not read", async () => {
    await fill();
    let made = false;
    const waiting = outbox.sendFrame(() => {
      made = true;
      return Buffer.alloc(frameBytes);
    }, never);
    expect(pair.serverSocket.bufferedAmount).to.be.within(highWaterBytes, highWaterBytes + frameBytes + 100);
    expect(made).to.equal(false);
    pair.clientSocket.resume();
    await waiting;
    expect(made).to.equal(true);
  });

  it("sends the frames of several streams in turns", async () => {
    const filled = await fill();
    const stream = async (name: string): Promise<void> => {
      for (let i = 0; i < 3; i++) await outbox.sendFrame(() => Buffer.from(name), never);
    };
    const all = Promise.all([stream("a"), stream("b"), stream("c")]);
    const received: string[] = [];
    const enough = new Promise<void>((resolve) => {
      let count = 0;
      pair.clientSocket.on("message", (data: Buffer) => {
        if (count++ < filled) return;
        received.push(String(data));
        if (received.length === 9) resolve();
      });
    });
    pair.clientSocket.resume();
    await Promise.all([all, enough]);
    expect(received.slice(0, 3)).to.deep.equal(["a", "b", "c"]);
    expect([...received].sort().join("")).to.equal("aaabbbccc");
  });

  it("does not send a frame that was aborted while it waited", async () => {
    await fill();
    const abort = new AbortController();
    const waiting = outbox.sendFrame(() => Buffer.from("aborted"), abort.signal);
    abort.abort(new Error("aborted"));
    expect(await waiting.catch((error) => error.message)).to.equal("aborted");
    expect(
      await outbox.sendFrame(() => Buffer.from("x"), abort.signal).catch((error) => error.message),
    ).to.equal("aborted");
  });

  it("rejects frames for a closed socket", async () => {
    pair.serverSocket.close();
    const code = await outbox.sendFrame(() => Buffer.from("x"), never).catch((error) => error.code);
    expect(code).to.equal("CLIENT_LEFT");
  });

  it("handles one message per turn of the event loop, in order", async () => {
    const messages = 1_000;
    const handled: string[] = [];
    let [turnBegan, most] = [0, 0];
    createInbox(pair.serverSocket, outbox.isFull, (data) => {
      handled.push(String(data));
      most = Math.max(most, handled.length - turnBegan);
    });
    for (let i = 0; i < messages; i++) pair.clientSocket.send(String(i));
    while (handled.length < messages) {
      await setImmediate();
      turnBegan = handled.length;
    }
    expect(handled).to.deep.equal(Array.from({ length: messages }, (_, i) => String(i)));
    expect(most).to.be.at.most(2);
  });

  it("handles at most two queued messages per turn after the outbox has drained", async () => {
    const messages = 100;
    let [full, handled] = [true, 0];
    const isFull = () => full;
    const processInbox = createInbox(pair.serverSocket, isFull, () => void handled++);
    for (let i = 0; i < messages; i++) pair.serverSocket.emit("message", Buffer.from("{}"), false);
    expect(handled).to.equal(0);
    full = false;
    processInbox();
    let most = handled;
    while (handled < messages) {
      const before = handled;
      await setImmediate();
      most = Math.max(most, handled - before);
    }
    expect(most).to.be.at.most(2);
  });

  it("stops reading from a client that does not read, and responds with everything when it does", async () => {
    // Several reads of the network, whose responses exceed the kernel's buffers on the loopback.
    const [messages, messageBytes, responseBytes] = [5_000, 80, 2_500];
    let handled = 0;
    let most = 0;
    const processInbox = createInbox(pair.serverSocket, outbox.isFull, () => {
      handled += 1;
      outbox.send({ type: "error", message: "x".repeat(responseBytes), retryable: false });
      most = Math.max(most, pair.serverSocket.bufferedAmount);
    });
    onDrained = processInbox;
    pair.clientSocket.pause();
    for (let i = 0; i < messages; i++) pair.clientSocket.send("x".repeat(messageBytes));
    while (!pair.serverSocket.isPaused) await once(pair.serverSocket, "message");
    expect(handled).to.be.below(messages);
    let response = 0;
    const all = new Promise<void>((resolve) => {
      pair.clientSocket.on("message", () => {
        response += 1;
        if (response === messages) resolve();
      });
    });
    pair.clientSocket.resume();
    await all;
    expect(handled).to.equal(messages);
    expect(most).to.be.below(highWaterBytes + 2 * responseBytes);
  });
});
