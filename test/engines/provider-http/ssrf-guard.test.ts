import type { lookup as resolve } from "node:dns";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { EngineFailed } from "../../../src/domain/errors.ts";
import { createExchange } from "../../../src/engines/provider-http/exchange.ts";
import { UpstreamFailed } from "../../../src/engines/provider-http/request-failed.ts";
import {
  createSsrfGuard,
  ForbiddenAddress,
  missingNetworks,
  type SsrfGuard,
  type Trust,
} from "../../../src/engines/provider-http/ssrf-guard.ts";
import { duringSuite } from "../../support/during.ts";
import { rejection } from "../../support/rejection.ts";
import { headOf, serveRaw } from "../../support/wire/raw-server.ts";

const website: Trust = { by: "website", allowLoopback: false, networks: [] };
const websiteHere: Trust = { ...website, allowLoopback: true };
/** Everything is named. */
const websiteAnywhere: Trust = { ...websiteHere, networks: ["0.0.0.0/0", "::/0"] };
const operator: Trust = { by: "operator" };

const loopback = [
  "127.0.0.1",
  "127.1",
  "0x7f000001",
  "2130706433",
  "127.9.9.9",
  "[::1]",
  "[::ffff:127.0.0.1]",
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
  "[2001:0:a9fe:a9fe::1]",
  "[2001::5601:5601]", // Teredo inverts the bits of the client's address
  "[2606:4700::5efe:169.254.169.254]",
  "[2606:4700::200:5efe:169.254.169.254]",
  "[::ffff:0:169.254.169.254]",
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

/** Private addresses, each with a network that allows it. */
const inPrivateNetworks: readonly (readonly [host: string, network: string])[] = [
  ["10.0.0.7", "10.0.0.0/8"],
  ["10.255.255.255", "10.0.0.0/8"],
  ["172.16.0.1", "172.16.0.0/12"],
  ["172.31.255.255", "172.16.0.0/12"],
  ["192.168.1.1", "192.168.1.1"],
  ["3232235777", "192.168.1.1/32"], // 192.168.1.1
  ["100.64.0.1", "100.64.0.0/10"],
  ["100.127.255.255", "100.64.0.0/10"],
  ["192.0.0.8", "192.0.0.0/24"],
  ["198.18.0.1", "198.18.0.0/15"],
  ["203.0.113.9", "203.0.113.0/24"],
  ["[::ffff:10.0.0.7]", "10.0.0.0/8"],
  ["[64:ff9b::10.0.0.7]", "10.0.0.0/8"],
  ["[fc00::1]", "fc00::/7"],
  ["[fd12:3456::1]", "fd12:3456::/32"],
  ["[64:ff9b:1::808:808]", "64:ff9b:1::/48"],
  ["[2001:0:808:808::f7f7:f7f7]", "2001::/32"],
  ["[2001:db8::1]", "2001:db8::/32"],
  ["[2002:808:808::1]", "2002::/16"],
  ["[3fff::1]", "3fff::/20"],
  ["[::8.8.8.8]", "::/96"],
  ["[100::1]", "100::/64"],
  ["[4000::1]", "4000::/2"],
];

/** Addresses that embed another one: both must be allowed. */
const embedding: readonly (readonly [host: string, network: string])[] = [
  ["[2002:a00:7::1]", "2002::/16"],
  ["[64:ff9b:1::10.0.0.7]", "64:ff9b:1::/48"],
  ["[::10.0.0.7]", "::/96"],
  ["[2606:4700::5efe:10.0.0.7]", "2606:4700::/32"],
  ["[2001:0:a00:7::f7f7:f7f7]", "2001::/32"],
  ["[64:ff9b:1::127.0.0.1]", "64:ff9b:1::/48"],
  ["[2002:7f00:1::]", "2002::/16"],
];

const internalNames = [
  "kokoro",
  "kokoro.",
  "kokoro.speech.svc",
  "kokoro.speech.svc.cluster.local",
  "KOKORO.Speech.SVC",
  "printer.local",
  "tts.internal",
  "nas.lan",
  "router.home.arpa",
  "tts.corp",
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
      for (const trust of [website, websiteHere, websiteAnywhere, operator]) {
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
    for (const host of [
      "api.openai.com",
      "93.184.216.34",
      "172.15.255.255",
      "172.32.0.1",
      "100.63.255.255",
      "100.128.0.1",
      "[2606:4700::1111]",
      "[::ffff:93.184.216.34]",
      "[64:ff9b::93.184.216.34]",
      "svc.example",
      "local.example",
    ]) {
      for (const trust of [website, websiteHere, websiteAnywhere]) {
        expect(admits(createSsrfGuard(trust), `https://${host}/v1`)).to.equal(true);
        expect(admits(createSsrfGuard(trust), `http://${host}/v1`)).to.equal(false);
      }
      expect(admits(createSsrfGuard(operator), `http://${host}/v1`)).to.equal(true);
    }
  });

  for (const [host, network] of inPrivateNetworks) {
    it(`allows a website ${host} only if the operator names its network, and only by https`, () => {
      const named: Trust = { ...website, networks: ["192.0.2.1", network] };
      for (const trust of [website, websiteHere])
        expect(admits(createSsrfGuard(trust), `https://${host}:8443/v1`)).to.equal(false);
      for (const trust of [named, websiteAnywhere])
        expect(admits(createSsrfGuard(trust), `https://${host}:8443/v1`)).to.equal(true);
      expect(admits(createSsrfGuard(websiteAnywhere), `http://${host}/v1`)).to.equal(false);
      for (const scheme of ["http", "https"])
        expect(admits(createSsrfGuard(operator), `${scheme}://${host}:8880/v1`)).to.equal(true);
    });
  }

  for (const [host, network] of embedding) {
    it(`allows a website ${host} only if the address in it is allowed, too`, () => {
      const half: Trust = { ...website, networks: [network] };
      const both: Trust = { ...website, networks: [network, "10.0.0.0/8", "127.0.0.1"] };
      expect(admits(createSsrfGuard(half), `https://${host}/`)).to.equal(false);
      expect(admits(createSsrfGuard(both), `https://${host}/`)).to.equal(true);
    });
  }

  it("allows a website http to this machine also if its network is named", () => {
    const both: Trust = { ...websiteHere, networks: ["127.0.0.0/8"] };
    const named: Trust = { ...website, networks: ["127.0.0.0/8"] };
    expect(admits(createSsrfGuard(both), "http://127.0.0.1:8880/")).to.equal(true);
    expect(admits(createSsrfGuard(named), "http://127.0.0.1:8880/")).to.equal(false);
    expect(admits(createSsrfGuard(named), "https://localhost:8880/")).to.equal(true);
  });

  for (const host of internalNames) {
    it(`does not resolve ${host} for a website unless a network is allowed: its address decides then`, () => {
      const allowing: Trust = { ...website, networks: ["10.0.0.0/8"] };
      expect(admits(createSsrfGuard(website), `https://${host}/`)).to.equal(false);
      expect(admits(createSsrfGuard(websiteHere), `https://${host}/`)).to.equal(false);
      expect(admits(createSsrfGuard(allowing), `https://${host}/`)).to.equal(true);
      expect(admits(createSsrfGuard(operator), `http://${host}/`)).to.equal(true);
    });
  }

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
  const server = duringSuite(() => serveRaw((socket) => socket.write(headOf(204))));

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
    for (const address of [
      ...["127.0.0.1", "::1", "::ffff:127.0.0.1", "169.254.169.254", "fe80::1%eth0"],
      ...["10.0.0.7", "::ffff:10.0.0.7", "64:ff9b::a00:7", "fd00::7", "fd00::7%eth0", "2002:a00:7::"],
    ]) {
      const error = await rejection(leadingTo(address)(website));
      expect(error, address).to.be.instanceOf(ForbiddenAddress).and.include({ isResolved: true });
    }
    for (const address of ["169.254.169.254", "fd00:ec2::254", "0.0.0.0"]) {
      expect(await rejection(leadingTo(address)(operator, "http")), address).to.be.instanceOf(
        ForbiddenAddress,
      );
    }
    expect(server.connections()).to.equal(1);
  });

  it("connects a website to an address in an allowed network, and to no other", async () => {
    const allowing: Trust = { ...website, networks: ["127.0.0.0/8", "10.1.0.0/16"] };
    const before = server.connections();
    const failure = await rejection(leadingTo("127.0.0.1")(allowing));
    expect(failure).to.be.instanceOf(UpstreamFailed); // the server does not speak TLS
    expect(server.connections()).to.equal(before + 1);
    expect(await rejection(leadingTo("10.2.0.1")(allowing))).to.be.instanceOf(ForbiddenAddress);
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

describe("The networks that are missing for a website's server", () => {
  const none = { allowLoopback: false, networks: [] };
  const missing = (url: string, networks: readonly string[] = [], ...addresses: string[]) =>
    missingNetworks(new URL(url), { ...none, networks }, async () =>
      addresses.map((address) => ({ address })),
    );

  it("are those of its addresses that are private, each alone", async () => {
    expect(await missing("https://10.0.0.7:8443/v1")).to.deep.equal(["10.0.0.7/32"]);
    expect(await missing("https://[fd00::7]/")).to.deep.equal(["fd00::7/128"]);
    const two = await missing("https://kokoro.svc/", [], "10.0.0.7", "fd00::7", "93.184.216.34");
    expect(two).to.deep.equal(["10.0.0.7/32", "fd00::7/128"]);
    expect(await missing("https://kokoro.svc/", ["10.0.0.0/8"], "10.0.0.7")).to.deep.equal([]);
  });

  it("allow the server when they are named", async () => {
    for (const host of ["10.0.0.7", "[fd00::7]", "[64:ff9b::10.0.0.7]", "[2002:a00:7::]"]) {
      const networks = await missing(`https://${host}/`);
      expect(admits(createSsrfGuard({ ...website, networks }), `https://${host}/`), host).to.equal(true);
    }
  });

  it("are none if the server is public or on this machine, or can never be allowed", async () => {
    for (const address of ["93.184.216.34", "127.0.0.1", "169.254.169.254"])
      expect(await missing("https://server.example/", [], address), address).to.deep.equal([]);
    expect(await missing("https://server.example/", [], "10.0.0.7", "169.254.169.254")).to.deep.equal([]);
    expect(await missing("http://10.0.0.7/")).to.deep.equal([]);
  });
});
