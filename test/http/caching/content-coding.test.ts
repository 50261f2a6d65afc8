import { once } from "node:events";
import { request } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect } from "chai";
import Koa from "koa";
import { compressText } from "../../../src/http/caching/content-coding.ts";
import { respondTagged, taggedContent } from "../../../src/http/kernel/tagged-content.ts";
import { authorize, registerWebsite } from "../../support/client.ts";
import { duringSuite } from "../../support/during.ts";
import { startInProcessService } from "../../support/in-process-service.ts";
import { until } from "../../support/manual-time.ts";

const decoders = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  identity: (body: Buffer) => body,
};

describe("compression of JSON", () => {
  const service = duringSuite(startInProcessService);
  const website = duringSuite(() => registerWebsite(service.url));

  const ask = (path: string, headers: Record<string, string> = {}, method = "GET") =>
    new Promise<{ status: number; headers: Record<string, string>; body: Buffer }>((resolve, reject) => {
      const sent = { method, headers: { ...authorize(website), ...headers }, agent: false };
      request(service.url + path, sent, async (response) => {
        const body = Buffer.concat(await response.toArray());
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers as Record<string, string>,
          body,
        });
      })
        .on("error", reject)
        .end();
    });

  for (const path of ["/v2/voices", "/openapi.json"]) {
    it(`gives each coding its own strong entity tag, which If-None-Match matches: ${path}`, async () => {
      const plain = await ask(path);
      const tags = new Set<string>();
      for (const coding of ["br", "gzip", "identity"] as const) {
        const accepting = { "Accept-Encoding": coding };
        for (const _ of ["made", "kept"]) {
          const { headers, body } = await ask(path, accepting);
          expect(headers["content-encoding"]).to.equal(coding === "identity" ? undefined : coding);
          expect(headers.vary).to.include("Accept-Encoding");
          expect(headers["content-length"]).to.equal(String(body.length));
          expect(decoders[coding](body).equals(plain.body)).to.equal(true);
          tags.add(headers.etag ?? "");
        }
      }
      expect(tags.size).to.equal(3);
      for (const coding of ["br", "gzip", "identity"] as const) {
        const { headers } = await ask(path, { "Accept-Encoding": coding });
        const etag = headers.etag ?? "";
        for (const accepted of ["br", "gzip", "identity"] as const) {
          const again = await ask(path, { "Accept-Encoding": accepted, "If-None-Match": etag });
          expect(again.status, `${etag} with ${accepted}`).to.equal(accepted === coding ? 304 : 200);
          if (accepted !== coding) continue;
          expect(again.headers).to.include({
            etag,
            vary: headers.vary,
            "cache-control": headers["cache-control"],
          });
        }
      }
    });
  }

  it("caches resources with the same entity tag separately", async () => {
    const platform = { browser: "Firefox", browserVersion: "131", os: "Linux", osVersion: "6" };
    const report = await fetch(`${service.url}/v2/voices/report`, {
      method: "POST",
      headers: { ...authorize(website), "Content-Type": "application/json" },
      body: JSON.stringify({ platform, voices: [], timestamp: "2026-11-22T08:00:00Z" }),
    });
    const list = await fetch(`${service.url}/v2/voices?${new URLSearchParams(platform)}`, {
      headers: authorize(website),
    });
    expect(Object.keys((await report.json()) as object)).to.not.include("_links");
    expect(Object.keys((await list.json()) as object)).to.include("_links");
  });

  it("sends the headers of GET to HEAD", async () => {
    const [get, head] = [
      await ask("/v2/voices", { "Accept-Encoding": "gzip" }),
      await ask("/v2/voices", { "Accept-Encoding": "gzip" }, "HEAD"),
    ];
    expect(head.body).to.have.length(0);
    for (const name of ["etag", "content-encoding", "content-length", "content-type", "vary"]) {
      expect(head.headers[name], name).to.equal(get.headers[name]);
    }
  });

  it("uses the coding that the client prefers, and br without weights", async () => {
    for (const [accepted, coding] of [
      [undefined, undefined],
      ["gzip;q=0.5, br", "br"],
      ["gzip, br;q=0.1", "gzip"],
      ["gzip, deflate, br, zstd", "br"],
      ["gzip, deflate", "gzip"],
      ["br;q=0, gzip;q=0", undefined],
      ["*", "br"],
      ["deflate", undefined],
      ["identity", undefined],
    ] as const) {
      const { headers } = await ask("/openapi.json", accepted ? { "Accept-Encoding": accepted } : {});
      expect(headers["content-encoding"], accepted).to.equal(coding);
    }
  });

  it("does not compress small responses and audio", async () => {
    const accepting = { "Accept-Encoding": "gzip, br" };
    for (const path of ["/health/live", "/v2/text/synthesize?lang=en-GB&text=Hello", "/v2/voices/Nobody"]) {
      const { headers } = await ask(path, accepting);
      expect(headers, path).to.not.have.property("content-encoding");
      expect(headers.vary ?? "", path).to.not.include("Accept-Encoding");
    }
  });
});

describe("compressions of a content that is the same for everybody", () => {
  /**
   * A service with two files. Returns what it compresses, one at a time when the test allows it.
   */
  const serve = async () => {
    const files = ["a", "b"].map((letter) => taggedContent(Buffer.from(`"${letter.repeat(2_000)}"`)));
    const started: PromiseWithResolvers<Buffer>[] = [];
    const app = new Koa();
    app.use(
      compressText(() => {
        const compression = Promise.withResolvers<Buffer>();
        started.push(compression);
        return compression.promise;
      }),
    );
    app.use((ctx) => {
      const file = files[Number(ctx.path.slice(1))];
      if (file) respondTagged(ctx, file);
      else ctx.body = { uncached: "c".repeat(2_000) };
    });
    const server = app.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const ask = (path: string, coding = "br", method = "GET") =>
      fetch(`http://127.0.0.1:${port}${path}`, { method, headers: { "Accept-Encoding": coding } });
    const finish = (at: number) => started[at]?.resolve(Buffer.from("compressed"));
    return { started, ask, finish, [Symbol.asyncDispose]: async () => void server.close() };
  };

  it("happen once for each coding, whatever the query and the method of the requests", async () => {
    await using service = await serve();
    const { started, ask, finish } = service;
    const first = Array.from({ length: 20 }, (_, x) => ask(`/0?x=${x}`, x % 2 ? "gzip" : "br").catch(ignore));
    await until(() => started.length === 2);
    finish(0);
    finish(1);
    await Promise.all(first);
    for (const coding of ["br", "gzip", "br;q=0.1", "gzip;q=0.9, br;q=0.1", "*"])
      for (const method of ["GET", "HEAD"]) await ask(`/0?${coding}`, coding, method).catch(ignore);
    expect(started).to.have.lengthOf(2);
  });

  it("are two at once, the uncached ones among them", async () => {
    await using service = await serve();
    const { started, ask, finish } = service;
    const asked = ["/0", "/1", "/2", "/2", "/2"].map((path) => ask(path).catch(ignore));
    for (let done = 0; done < asked.length; done++) {
      await until(() => started.length === Math.min(done + 2, asked.length));
      finish(done);
    }
    await Promise.all(asked);
  });
});

/** The body is not really compressed, which fetch finds out. */
const ignore = (): void => undefined;
