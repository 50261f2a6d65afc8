import { createHash } from "node:crypto";
import { expect } from "chai";
import { bytesOf, errorOf, registerWebsite, synthesize, synthesizeByPost } from "../support/client.ts";
import { duringSuite } from "../support/during.ts";
import { descendantsOf, gone, until } from "../support/processes.ts";
import { deployment, startService, temporaryFolder } from "../support/service.ts";

const hello = { voice: "UK English Female", text: "Hello, this is a test." };

describe("synthesis over HTTP", () => {
  const folder = duringSuite(temporaryFolder);
  const service = duringSuite(() => startService(folder.path));
  const website = duringSuite(() => registerWebsite(service.url));
  const get = (query: Record<string, string>, init: RequestInit = {}) =>
    synthesize(service.url, website, query, init);

  describe("GET /v2/text/synthesize", () => {
    it("returns audio with the applied prosody, its origin and the rate limits", async () => {
      const response = await get({ ...hello, text: "A sentence of its own." });
      expect(response.status).to.equal(200);
      const headers = Object.fromEntries(response.headers);
      expect(headers).to.include({
        "content-type": "audio/mpeg",
        "cache-control": "public, max-age=86400, s-maxage=604800",
        "svc-prosody-applied": "pitch,rate,volume",
        "svc-cached": "miss",
        "accept-ranges": "bytes",
        "x-ratelimit-limit": "1000000",
      });
      expect(headers["x-request-id"]).to.match(/^[0-9a-f-]{36}$/);
      expect(Number(headers["x-ratelimit-remaining"])).to.be.below(1_000_000);
      const bytes = await bytesOf(response);
      expect(bytes.length).to.equal(Number(headers["content-length"]));
      expect(bytes.length).to.be.above(2_000);
    });

    it("returns the same bytes from memory, with the same entity tag", async () => {
      const [first, second] = [await get(hello), await get(hello)];
      if (deployment === "embedded") expect(second.headers.get("svc-cached")).to.equal("memory");
      expect(second.headers.get("etag")).to.equal(first.headers.get("etag"));
      expect((await bytesOf(second)).equals(await bytesOf(first))).to.equal(true);
    });

    it("links an immutable object that a CDN can read without credentials", async () => {
      const first = await get(hello);
      const location = first.headers.get("content-location") ?? "";
      expect(location).to.match(/^\/audio\/[0-9a-f]{64}\.mp3$/);
      const object = await fetch(service.url + location);
      expect(object.status).to.equal(200);
      expect(object.headers.get("cache-control")).to.equal("public, max-age=31536000, immutable");
      expect((await bytesOf(object)).equals(await bytesOf(first))).to.equal(true);
    });

    it("returns 304 without a body if the entity tag matches, even if the audio was never synthesized", async () => {
      const etag = (await get(hello)).headers.get("etag") ?? "";
      for (const tag of [etag, `W/${etag}`, `"x", ${etag}`]) {
        const response = await get(hello, { headers: { "If-None-Match": tag } });
        expect(response.status).to.equal(304);
        expect(response.headers.get("etag")).to.equal(etag);
        expect(response.headers.get("cache-control")).to.equal("public, max-age=86400, s-maxage=604800");
        expect(await response.text()).to.equal("");
      }
    });

    it("returns 206 with the requested range, and 416 for a range outside the audio", async () => {
      const whole = await bytesOf(await get(hello));
      const part = await get(hello, { headers: { Range: "bytes=0-1" } });
      expect(part.status).to.equal(206);
      expect(part.headers.get("content-range")).to.equal(`bytes 0-1/${whole.length}`);
      expect((await bytesOf(part)).equals(whole.subarray(0, 2))).to.equal(true);
      const beyond = await get(hello, { headers: { Range: `bytes=${whole.length}-` } });
      expect(beyond.status).to.equal(416);
      expect(beyond.headers.get("content-range")).to.equal(`bytes */${whole.length}`);
      expect(await errorOf(beyond)).to.include({ statusCode: 416 });
    });

    it("sends the headers of GET to HEAD, without a body and without synthesis", async () => {
      const unknown = await get({ ...hello, text: "Never spoken." }, { method: "HEAD" });
      expect(unknown.status).to.equal(200);
      expect(unknown.headers.get("content-length")).to.equal(null);
      const known = await get(hello, { method: "HEAD" });
      const length = (await bytesOf(await get(hello))).length;
      expect(known.headers.get("content-length")).to.equal(String(length));
      expect(known.headers.get("etag")).to.match(/^"[0-9a-f]{64}"$/);
      const afterwards = await get({ ...hello, text: "Never spoken." });
      expect(afterwards.headers.get("svc-cached")).to.equal("miss");
    });

    it("treats absent, empty and null numbers alike", async () => {
      const tags = await Promise.all(
        [{}, { pitch: "" }, { pitch: "null" }, { pitch: "1" }].map(async (pitch) =>
          (await get({ ...hello, ...pitch } as Record<string, string>)).headers.get("etag"),
        ),
      );
      expect(new Set(tags).size).to.equal(1);
    });

    it("accepts the longest allowed text in a URL", async () => {
      const response = await get({ ...hello, text: "あ ".repeat(2_000), volume: "0" });
      expect(response.status).to.equal(204);
    });
  });

  describe("POST /v2/text/synthesize", () => {
    it("returns the audio of GET, cacheable for a day", async () => {
      const [byGet, byPost] = [await get(hello), await synthesizeByPost(service.url, website, hello)];
      expect(byPost.status).to.equal(200);
      expect(byPost.headers.get("cache-control")).to.equal("public, max-age=86400");
      expect((await bytesOf(byPost)).equals(await bytesOf(byGet))).to.equal(true);
    });
  });

  it("returns 404 for audio that does not exist, and for malformed names", async () => {
    const never = createHash("sha256").update("never").digest("hex");
    for (const name of [`${never}.mp3`, "x.mp3", "..%2f..%2fevents.db", `${never}.exe`]) {
      expect((await fetch(`${service.url}/audio/${name}`)).status).to.equal(404);
    }
  });

  it("cancels the synthesis of a client that disconnects, and synthesizes for the next client", async () => {
    // A voice of flite, whose process exists only while it speaks.
    const query = { voice: "US English Female", text: "The client of this has left. ".repeat(20) };
    const leaving = new AbortController();
    const left = get(query, { signal: leaving.signal }).catch((error) => error.name);
    const flite = () =>
      service.pids.flatMap(descendantsOf).find(({ command }) => command.startsWith("flite"));
    /**
     * Stops the speech processes, so that the synthesis cannot end by itself. Some may have exited
     * already.
     */
    const stopped = (): number | undefined => {
      const pid = flite()?.pid;
      try {
        if (pid !== undefined) process.kill(pid, "SIGSTOP");
        return pid;
      } catch {
        return undefined;
      }
    };
    let engine = 0;
    await until("the engine speaks", () => {
      engine = stopped() ?? 0;
      return engine > 0;
    });
    leaving.abort();
    expect(await left).to.equal("AbortError");
    await gone(engine);
    await until("the request is logged", () => service.log.some((line) => line.includes('"aborted":true')));
    const aborted = service.log.filter((line) => line.includes('"aborted":true'));
    expect(aborted).to.have.length(1);
    expect(JSON.parse(aborted[0] ?? "")).to.include({ status: 499, apiKey: website.apiKey });
    const response = await get(query);
    expect(response.status, response.ok ? "" : await response.text()).to.equal(200);
    expect(response.headers.get("svc-cached")).to.equal("miss");
  });

  it("logs no text and no secret", async () => {
    await get({ ...hello, text: "a text that nobody may read" });
    await get({ ...hello, text: "another such text", pitch: "9" });
    const log = service.log.join("\n");
    expect(log).to.not.include("nobody may read").and.to.not.include("another such");
    expect(log).to.not.include(website.apiSecret);
    expect(log).to.include('"route":"/v2/text/synthesize"');
  });
});
