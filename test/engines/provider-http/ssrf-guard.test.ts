import type { lookup as resolve } from "node:dns";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { EngineFailed } from "../../../src/domain/errors.ts";
import { createExchange } from "../../../src/engines/provider-http/exchange.ts";
import {
  createSsrfGuard,
  ForbiddenAddress,
  type SsrfGuard,
  type Trust,
} from "../../../src/engines/provider-http/ssrf-guard.ts";
import { rejection } from "../../support/rejection.ts";
import { headOf, type RawServer, serveRaw } from "../../support/wire/raw-server.ts";

const website: Trust = { by: "website", allowLoopback: false };
const websiteHere: Trust = { by: "website", allowLoopback: true };
const operator: Trust = { by: "operator" };

const loopback = [
  "127.0.0.1",
  "127.1",
  "0x7f000001",
  "2130706433",
  "127.9.9.9",
  "[::1]",
  "[::ffff:127.0.0.1]",
  "[64:ff9b::127.0.0.1]",
  "[64:ff9b:1::127.0.0.1]",
  "[2002:7f00:1::]",
  "localhost",
  "localhost.",
  "any.localhost",
];

const never = [
  "169.254.169.254",
  "0xa9fea9fe",
  "2852039166",
  "169.254.0.1",
  "[fe80::1]",
  "[::ffff:169.254.169.254]",
  "[::ffff:a9fe:a9fe]",
  "[::169.254.169.254]",
  "[64:ff9b::a9fe:a9fe]",
  "[64:ff9b:1::a9fe:a9fe]",
  "[2002:a9fe:a9fe::1]",
  "[fd00:ec2::254]",
  "[fd00:ec2::23]",
  "[fd20:ce::254]",
  "[fd00:42::42]",
  "100.100.100.200",
  "192.0.0.192",
  "168.63.129.16",
  "0.0.0.0",
  "[::]",
  "224.0.0.1",
  "255.255.255.255",
  "[ff02::1]",
  "metadata.google.internal",
  "METADATA.google.internal.",
  "instance-data.ec2.internal",
];

const admits = (guard: SsrfGuard, url: string): boolean => {
  try {
    guard.check(new URL(url));
    return true;
  } catch (error) {
    expect(error).to.be.instanceOf(ForbiddenAddress).and.instanceOf(EngineFailed);
    return false;
  }
};

describe("The SSRF guard", () => {
  for (const host of never) {
    it(`never allows ${host}`, () => {
      for (const trust of [website, websiteHere, operator]) {
        expect(admits(createSsrfGuard(trust), `https://${host}/v1`), trust.by).to.equal(false);
        expect(admits(createSsrfGuard(trust), `http://${host}/v1`), trust.by).to.equal(false);
      }
    });
  }

  for (const host of loopback) {
    it(`allows a website ${host} only with the operator's permission`, () => {
      for (const scheme of ["http", "https"]) {
        expect(admits(createSsrfGuard(website), `${scheme}://${host}:8880/v1`), scheme).to.equal(false);
        expect(admits(createSsrfGuard(websiteHere), `${scheme}://${host}:8880/v1`), scheme).to.equal(true);
        expect(admits(createSsrfGuard(operator), `${scheme}://${host}:8880/v1`), scheme).to.equal(true);
      }
    });
  }

  it("allows a website only https to other hosts", () => {
    for (const host of ["api.openai.com", "93.184.216.34", "10.0.0.7", "[2606:4700::1111]"]) {
      for (const trust of [website, websiteHere]) {
        expect(admits(createSsrfGuard(trust), `https://${host}/v1`)).to.equal(true);
        expect(admits(createSsrfGuard(trust), `http://${host}/v1`)).to.equal(false);
      }
      expect(admits(createSsrfGuard(operator), `http://${host}/v1`)).to.equal(true);
    }
  });

  it("rejects credentials in a URL, and other schemes", () => {
    for (const trust of [website, websiteHere, operator]) {
      for (const url of ["https://user@host/", "https://:pass@host/", "ftp://host/", "file:///etc/passwd"]) {
        expect(admits(createSsrfGuard(trust), url), url).to.equal(false);
      }
    }
  });

  it("does not repeat the URL", () => {
    expect(() => createSsrfGuard(website).check(new URL("https://169.254.169.254/secret"))).to.throw(
      ForbiddenAddress,
      /^The speech provider's address is not allowed: [^0-9]*$/,
    );
  });
});

describe("The SSRF guard's DNS lookup", () => {
  let server: RawServer;

  before(async () => {
    server = await serveRaw((socket) => socket.write(headOf(204)));
  });
  after(() => server.close());

  const port = () => new URL(server.url).port as unknown as AddressInfo["port"];
  const leadingTo =
    (...addresses: string[]) =>
    (trust: Trust, scheme = "https") => {
      const resolved = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
      const lookup = ((_name: string, _options: object, callback: (error: null, all: object[]) => void) =>
        setImmediate(callback, null, resolved)) as unknown as typeof resolve;
      const exchange = createExchange({ guard: createSsrfGuard(trust, { resolve: lookup }) });
      const url = new URL(`${scheme}://rebound.example:${port()}/`);
      return exchange({ method: "GET", url, headers: {} }, new AbortController().signal);
    };

  it("checks the resolved address at the time of connecting", async () => {
    const { status } = await leadingTo("127.0.0.1")(operator, "http");
    expect(status).to.equal(204);
    for (const address of ["127.0.0.1", "::1", "::ffff:127.0.0.1", "169.254.169.254", "fe80::1%eth0"]) {
      expect(await rejection(leadingTo(address)(website)), address).to.be.instanceOf(ForbiddenAddress);
    }
    for (const address of ["169.254.169.254", "fd00:ec2::254", "0.0.0.0"]) {
      expect(await rejection(leadingTo(address)(operator, "http")), address).to.be.instanceOf(
        ForbiddenAddress,
      );
    }
    expect(server.connections()).to.equal(1);
  });

  it("rejects a name if any of its addresses is forbidden", async () => {
    const failure = await rejection(leadingTo("93.184.216.34", "169.254.169.254")(website));
    expect(failure).to.be.instanceOf(ForbiddenAddress);
  });

  it("also applies to IP addresses without a lookup, before connecting", async () => {
    const before = server.connections();
    const exchange = createExchange({ guard: createSsrfGuard(website) });
    const response = exchange(
      { method: "GET", url: new URL(server.url), headers: {} },
      new AbortController().signal,
    );
    expect(await rejection(response)).to.be.instanceOf(ForbiddenAddress);
    expect(server.connections()).to.equal(before);
  });

  it("rejects a name without addresses", async () => {
    expect(await rejection(leadingTo()(operator, "http"))).to.be.instanceOf(ForbiddenAddress);
  });
});
