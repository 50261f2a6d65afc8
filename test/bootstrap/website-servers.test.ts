import type { lookup as resolve } from "node:dns";
import { expect } from "chai";
import { withCoarseFailures } from "../../src/bootstrap/website-servers.ts";
import { createExchange, type Exchange } from "../../src/engines/provider-http/exchange.ts";
import { UpstreamFailed } from "../../src/engines/provider-http/request-failed.ts";
import { createSsrfGuard, ForbiddenAddress } from "../../src/engines/provider-http/ssrf-guard.ts";
import { freePort } from "../support/free-port.ts";
import { rejection } from "../support/rejection.ts";
import { headOf, type RawServer, serveRaw } from "../support/wire/raw-server.ts";

describe("Coarse failures of a website's server", () => {
  const deadlines = { connectMs: 5_000, firstByteMs: 100, totalMs: 5_000 };
  let silent: RawServer;
  let noise: RawServer;
  let redirecting: RawServer;
  let reasons: string[];

  before(async () => {
    silent = await serveRaw(() => {});
    noise = await serveRaw((socket) => socket.end("220 mail.internal ESMTP\r\n"));
    redirecting = await serveRaw((socket) =>
      socket.end(headOf(302, { Location: "/", "Content-Length": "0" })),
    );
  });
  after(async () => {
    for (const server of [silent, noise, redirecting]) await server.close();
  });
  beforeEach(() => {
    reasons = [];
  });

  /** A resolver that knows one name, which leads to a private network. */
  const resolver = ((
    name: string,
    _options: object,
    callback: (error: Error | null, all: object[]) => void,
  ) =>
    name === "known.example"
      ? callback(null, [{ address: "10.0.0.7", family: 4 }])
      : callback(
          Object.assign(new Error("unknown"), { code: "ENOTFOUND" }),
          [],
        )) as unknown as typeof resolve;
  const guard = createSsrfGuard({ by: "website", allowLoopback: true, networks: [] }, { resolve: resolver });
  const exchange: Exchange = withCoarseFailures(createExchange({ guard, deadlines }), (reason) =>
    reasons.push(reason.message),
  );
  const failureOf = (url: string) =>
    rejection(exchange({ method: "GET", url: new URL(url), headers: {} }, new AbortController().signal));

  it("are the same for closed, silent and other ports, failed TLS, unknown names and private addresses", async () => {
    const urls = [
      `http://127.0.0.1:${await freePort()}/`,
      silent.url,
      noise.url,
      noise.url.replace("http:", "https:"),
      "https://known.example/",
      "https://unknown.example/",
    ];
    for (const url of urls) {
      const { message, retryAfterSeconds, permanent, status } = (await failureOf(url)) as UpstreamFailed;
      expect({ message, retryAfterSeconds, permanent, status }, url).to.deep.equal({
        message: "The speech provider cannot be reached or does not respond.",
        retryAfterSeconds: undefined,
        permanent: false,
        status: undefined,
      });
    }
    expect(new Set(reasons).size).to.equal(urls.length); // the operator's log tells them apart
  });

  it("leave a refusal that depends on the address alone, and every failure after a response", async () => {
    expect(await failureOf("https://10.0.0.7/")).to.be.instanceOf(ForbiddenAddress);
    expect(await failureOf(redirecting.url))
      .to.be.instanceOf(UpstreamFailed)
      .and.include({ status: 302 });
    expect(reasons).to.deep.equal([]);
  });

  it("leave the reason of an abort", async () => {
    const left = new Error("the client has left");
    const aborted = exchange(
      { method: "GET", url: new URL(silent.url), headers: {} },
      AbortSignal.abort(left),
    );
    expect(await rejection(aborted)).to.equal(left);
  });
});
