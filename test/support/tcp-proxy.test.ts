import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { buffer, text } from "node:stream/consumers";
import { expect } from "chai";
import { duringTest } from "../support/during.ts";
import { until } from "./processes.ts";
import { openTcpProxy } from "./tcp-proxy.ts";

/** An echo server behind the proxy. */
const echo = (): Promise<Server> =>
  new Promise((resolve) => {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on("error", () => undefined).pipe(socket);
    });
    server.listen(0, "127.0.0.1", () => resolve(server));
  });

/** Resolves however the connection ended. */
const closed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => socket.once("close", () => resolve()));

describe("The TCP proxy", () => {
  const server = duringTest(echo);
  const line = duringTest(() => openTcpProxy(server.address() as AddressInfo));

  const dial = (): Socket => connect(line.port, "127.0.0.1").on("error", () => undefined);

  it("forwards data and the end of a connection, and counts connections", async () => {
    expect(await text(dial().end("hello"))).to.equal("hello");
    expect(await text(dial().end("again"))).to.equal("again");
    await until("both are closed", () => line.open() === 0);
    expect([line.accepted(), line.passed()]).to.deep.equal([2, 20]);
  });

  it("holds data while it is frozen, and forwards it afterwards", async () => {
    line.freeze();
    const response = text(dial().end("hello"));
    await until("it is connected", () => line.open() === 1);
    expect(line.passed()).to.equal(0);
    line.thaw();
    expect(await response).to.equal("hello");
  });

  it("loses no data when it is throttled", async () => {
    line.slow(1_000_000);
    expect(await buffer(dial().end(Buffer.alloc(50_000, 7)))).to.have.length(50_000);
  });

  it("resets its connections on a cut, including frozen ones, and accepts new ones", async () => {
    line.freeze();
    const socket = dial();
    socket.write("hello");
    await until("it is connected", () => line.open() === 1);
    line.cut();
    await closed(socket);
    await until("nothing is open", () => line.open() === 0);
    line.thaw();
    expect(await text(dial().end("hello"))).to.equal("hello");
  });

  it("cuts once after a number of bytes from the server", async () => {
    line.cutAfter(1000);
    const socket = dial();
    socket.end(Buffer.alloc(5000));
    let received = 0;
    socket.on("data", (chunk) => {
      received += chunk.length;
    });
    await closed(socket);
    expect(received).to.be.at.most(1000);
    expect(await text(dial().end("hello"))).to.equal("hello");
  });

  it("refuses connections while it is down, and accepts them on the same port when it is up", async () => {
    await line.down();
    const [refusal] = await once(connect(line.port, "127.0.0.1"), "error");
    expect(refusal).to.include({ code: "ECONNREFUSED" });
    await line.up();
    expect(await text(dial().end("hello"))).to.equal("hello");
  });
});
