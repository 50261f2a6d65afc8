import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { WebSocket, WebSocketServer } from "ws";
import { createInbox, messagesAtOnce } from "../../../src/http/websocket/inbox.ts";
import { createOutbox, highWaterBytes, type Outbox } from "../../../src/http/websocket/outbox.ts";

const frameBytes = 64 * 1024;
const never = new AbortController().signal;

/** Both ends of one WebSocket over the loopback. */
const openPair = async () => {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: false });
  await once(server, "listening");
  const far = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`, {
    perMessageDeflate: false,
  });
  const [[near]] = (await Promise.all([once(server, "connection"), once(far, "open")])) as [
    [WebSocket],
    unknown,
  ];
  return {
    near,
    far,
    close: () => {
      far.terminate();
      near.terminate();
      server.close();
    },
  };
};

describe("the way out of a socket", () => {
  let pair: Awaited<ReturnType<typeof openPair>>;
  let outbox: Outbox;
  let onTaken: () => void;

  beforeEach(async () => {
    pair = await openPair();
    onTaken = () => {};
    outbox = createOutbox(pair.near, { onWaiting: () => {}, onTaken: () => onTaken() });
  });
  afterEach(() => pair.close());

  /** Sends until the reader, who does not read, has more waiting than it should. */
  const fill = async (): Promise<number> => {
    pair.far.pause();
    let sent = 0;
    for (; !outbox.isFull(); sent++) await outbox.sendFrame(() => Buffer.alloc(frameBytes), never);
    return sent;
  };

  it("keeps no more for a reader that does not read than its high water mark and one frame", async () => {
    await fill();
    let made = false;
    const late = outbox.sendFrame(() => {
      made = true;
      return Buffer.alloc(frameBytes);
    }, never);
    expect(pair.near.bufferedAmount).to.be.within(highWaterBytes, highWaterBytes + frameBytes + 100);
    expect(made).to.equal(false);
    pair.far.resume();
    await late;
    expect(made).to.equal(true);
  });

  it("lets streams take turns, a frame each", async () => {
    const filled = await fill();
    const stream = async (name: string): Promise<void> => {
      for (let i = 0; i < 3; i++) await outbox.sendFrame(() => Buffer.from(name), never);
    };
    const all = Promise.all([stream("a"), stream("b"), stream("c")]);
    const heard: string[] = [];
    const enough = new Promise<void>((resolve) => {
      let count = 0;
      pair.far.on("message", (data: Buffer) => {
        if (count++ < filled) return;
        heard.push(String(data));
        if (heard.length === 9) resolve();
      });
    });
    pair.far.resume();
    await Promise.all([all, enough]);
    expect(heard.slice(0, 3)).to.deep.equal(["a", "b", "c"]);
    expect([...heard].sort().join("")).to.equal("aaabbbccc");
  });

  it("sends nothing of what was given up while it waited for its turn", async () => {
    await fill();
    const leaving = new AbortController();
    const waiting = outbox.sendFrame(() => Buffer.from("given up"), leaving.signal);
    leaving.abort(new Error("given up"));
    expect(await waiting.catch((error) => error.message)).to.equal("given up");
    expect(
      await outbox.sendFrame(() => Buffer.from("x"), leaving.signal).catch((error) => error.message),
    ).to.equal("given up");
  });

  it("refuses frames for a socket that is closed", async () => {
    pair.near.close();
    const code = await outbox.sendFrame(() => Buffer.from("x"), never).catch((error) => error.code);
    expect(code).to.equal("CLIENT_LEFT");
  });

  it("handles few messages of one socket at a time, in their order, so that others have their turn", async () => {
    const messages = 1_000;
    const handled: string[] = [];
    let [turnBegan, most] = [0, 0];
    createInbox(pair.near, outbox.isFull, (data) => {
      handled.push(String(data));
      most = Math.max(most, handled.length - turnBegan);
    });
    for (let i = 0; i < messages; i++) pair.far.send(String(i));
    while (handled.length < messages) {
      await setImmediate();
      turnBegan = handled.length;
    }
    expect(handled).to.deep.equal(Array.from({ length: messages }, (_, i) => String(i)));
    expect(most).to.be.at.most(2 * messagesAtOnce);
  });

  it("reads nothing more from who asks and never listens, and answers it all when it does", async () => {
    const messages = 50_000;
    let handled = 0;
    let most = 0;
    const inbox = createInbox(pair.near, outbox.isFull, () => {
      handled += 1;
      outbox.send({ type: "error", message: "x".repeat(200), retryable: false });
      most = Math.max(most, pair.near.bufferedAmount);
    });
    onTaken = inbox.process;
    pair.far.pause();
    for (let i = 0; i < messages; i++) pair.far.send("{}");
    while (!pair.near.isPaused) await once(pair.near, "message");
    expect(handled).to.be.below(messages);
    let answered = 0;
    const all = new Promise<void>((resolve) => {
      pair.far.on("message", () => {
        answered += 1;
        if (answered === messages) resolve();
      });
    });
    pair.far.resume();
    await all;
    expect(handled).to.equal(messages);
    expect(most).to.be.below(highWaterBytes + 1_000);
  });
});
