import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { expect } from "chai";
import { timeServers } from "../../../src/bootstrap/clock/time-servers.ts";
import { readSettings } from "../../../src/settings/read-settings.ts";
import { rejection } from "../../support/rejection.ts";

const now = Date.parse("2026-11-05T10:00:00.250Z");
const epochSeconds = 2_208_988_800;

/** A time as NTP writes it. Since 2036 its seconds begin again. */
const writeTime = (packet: Buffer, offset: number, time: number): void => {
  packet.writeUInt32BE((Math.floor(time / 1_000) + epochSeconds) % 2 ** 32, offset);
  packet.writeUInt32BE(((time % 1_000) / 1_000) * 2 ** 32, offset + 4);
};

/** A server at this time. `change`: changes its response. */
const startServer = async (time: number, change: (response: Buffer) => void = () => {}) => {
  const socket: Socket = createSocket("udp4");
  socket.on("message", (request, { port, address }) => {
    expect([request.length, request[0]]).to.deep.equal([48, 0x23]);
    const response = Buffer.alloc(48);
    response[0] = 0x24;
    response[1] = 2;
    request.copy(response, 24, 40, 48);
    writeTime(response, 32, time);
    writeTime(response, 40, time);
    change(response);
    socket.send(response, port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return { host: "127.0.0.1", port: socket.address().port, [Symbol.dispose]: () => void socket.close() };
};

const difference = async (...servers: { host: string; port: number }[]) =>
  Math.round((await timeServers(servers, () => now).difference()) ?? Number.NaN);

describe("the servers in TIME_SERVERS", () => {
  it("tell by how much this machine's clock is behind or ahead", async () => {
    using server = await startServer(now + 92_000);
    using behind = await startServer(now - 1_500);
    expect(await difference(server)).to.equal(92_000);
    expect(await difference(behind)).to.equal(-1_500);
  });

  it("are understood after 2036, when the seconds of NTP begin again", async () => {
    const later = Date.parse("2040-02-29T12:00:00.000Z");
    using server = await startServer(later);
    expect(await difference(server)).to.equal(later - now);
  });

  it("are asked at once, and the first valid response counts", async () => {
    using forged = await startServer(0, (response) => response.fill(0, 24, 32));
    using unsynchronised = await startServer(0, (response) => response.writeUInt8(0xe4, 0));
    using server = await startServer(now);
    expect(await difference(forged, unsynchronised, server)).to.equal(0);
  });

  it("say nothing if none responds in time", async () => {
    using silent = await startServer(0, (response) => response.writeUInt8(0, 1));
    expect(await rejection(difference(silent))).to.be.instanceOf(AggregateError);
  });

  it("are hosts with or without ports", () => {
    const { timeServers: servers } = readSettings({ TIME_SERVERS: "pool.example, [::1]:1123,10.0.0.1:124" });
    expect(servers).to.deep.equal([
      { host: "pool.example", port: 123 },
      { host: "::1", port: 1123 },
      { host: "10.0.0.1", port: 124 },
    ]);
    expect(() => readSettings({ TIME_SERVERS: "a b" })).to.throw("TIME_SERVERS: must be HOST or HOST:PORT");
  });
});
