import { randomBytes } from "node:crypto";
import { createSocket } from "node:dgram";
import { isIPv6 } from "node:net";
import type { TimeSource } from "../../application/clock/clock-check.ts";
import type { EpochMs } from "../../domain/time.ts";

interface TimeServer {
  readonly host: string;
  readonly port: number;
}

const timeoutMs = 1_000;
const packetBytes = 48;
/** The first byte of a request: no warning of a leap second, version 4, client. */
const request = 0x23;
const serverMode = 4;
const notSynchronised = 3;
const lastStratum = 15;
/** NTP counts from 1900, Unix from 1970; timestamps begin again in 2036 (RFC 4330). */
const epochSeconds = 2_208_988_800;
const eraSeconds = 2 ** 32;
const field = { stratum: 1, origin: 24, received: 32, sent: 40 };

/** Asks the servers that the operator names by SNTP (RFC 4330). The first valid response counts. */
export const timeServers = (servers: readonly TimeServer[], clock: () => EpochMs): TimeSource => ({
  name: "the time servers",
  difference: () => Promise.any(servers.map((server) => askServer(server, clock))),
});

const askServer = async ({ host, port }: TimeServer, clock: () => EpochMs): Promise<number> => {
  const socket = createSocket(isIPv6(host) ? "udp6" : "udp4");
  const difference = Promise.withResolvers<number>();
  const timer = setTimeout(() => difference.reject(new Error("no response in time")), timeoutMs);
  const packet = Buffer.alloc(packetBytes);
  packet[0] = request;
  // The server returns the nonce: a response without it is forged.
  const nonce = randomBytes(8);
  nonce.copy(packet, field.sent);
  const sentAt = clock();
  socket.on("error", difference.reject);
  socket.on("message", (response) => {
    const ahead = differenceIn(response, nonce, sentAt, clock());
    if (ahead !== undefined) difference.resolve(ahead);
  });
  try {
    socket.send(packet, port, host, (error) => error && difference.reject(error));
    return await difference.promise;
  } finally {
    clearTimeout(timer);
    socket.close();
  }
};

const differenceIn = (
  response: Buffer,
  nonce: Buffer,
  sentAt: number,
  respondedAt: number,
): number | undefined => {
  if (response.length < packetBytes) return undefined;
  const first = response.readUInt8(0);
  const stratum = response.readUInt8(field.stratum);
  const isValid =
    (first & 7) === serverMode &&
    first >> 6 !== notSynchronised &&
    stratum >= 1 &&
    stratum <= lastStratum &&
    response.subarray(field.origin, field.origin + 8).equals(nonce);
  if (!isValid) return undefined;
  return (readTime(response, field.received) + readTime(response, field.sent) - sentAt - respondedAt) / 2;
};

const readTime = (packet: Buffer, offset: number): number => {
  const seconds = packet.readUInt32BE(offset);
  const era = seconds < eraSeconds / 2 ? eraSeconds : 0;
  const fraction = packet.readUInt32BE(offset + 4) / eraSeconds;
  return (seconds + era - epochSeconds + fraction) * 1_000;
};
