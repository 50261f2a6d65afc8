import type { IncomingMessage } from "node:http";
import { expect } from "chai";
import { clientAddress } from "../../../src/http/kernel/client-address.ts";

const request = (peer: string, forwarded?: string): IncomingMessage =>
  ({
    socket: { remoteAddress: peer },
    headers: forwarded === undefined ? {} : { "x-forwarded-for": forwarded },
  }) as unknown as IncomingMessage;

describe("the client's address", () => {
  const clientOf = clientAddress(["10.0.0.0/8", "192.0.2.7", "fd00::/8"]);

  it("is the socket's address if no proxy is trusted", () => {
    expect(clientAddress([])(request("203.0.113.1", "198.51.100.9"))).to.equal("203.0.113.1");
  });

  it("is the socket's address if the peer is not a trusted proxy", () => {
    expect(clientOf(request("203.0.113.1", "198.51.100.9"))).to.equal("203.0.113.1");
  });

  it("is the address that a trusted proxy reports", () => {
    expect(clientOf(request("10.1.2.3", "198.51.100.9"))).to.equal("198.51.100.9");
    expect(clientOf(request("fd00::1", "2001:db8::5"))).to.equal("2001:db8::5");
  });

  it("is the last address behind the trusted proxies, not one that the client forged", () => {
    expect(clientOf(request("10.1.2.3", "1.1.1.1, 198.51.100.9, 192.0.2.7"))).to.equal("198.51.100.9");
  });

  it("is the proxy's own address if its report is malformed", () => {
    expect(clientOf(request("10.1.2.3", "198.51.100.9, <script>"))).to.equal("10.1.2.3");
    expect(clientOf(request("10.1.2.3"))).to.equal("10.1.2.3");
  });

  it("is the IPv4 address of an IPv4-mapped IPv6 address", () => {
    expect(clientOf(request("::ffff:10.1.2.3", "198.51.100.9"))).to.equal("198.51.100.9");
  });
});
