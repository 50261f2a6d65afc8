import { createHash } from "node:crypto";
import { expect } from "chai";
import type { Health } from "../../src/application/health/health.ts";
import {
  admin,
  authorize,
  bytesOf,
  type Credentials,
  errorOf,
  registerWebsite,
  synthesize,
  synthesizeByPost,
} from "../support/client.ts";
import { descendantsOf, gone, until } from "../support/processes.ts";
import { deployment, type RunningService, startService, temporaryFolder } from "../support/service.ts";

const hello = { voice: "UK English Female", text: "Hello, this is a test." };

describe("synthesis over HTTP", () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let service: RunningService;
  let website: Credentials;
  const get = (query: Record<string, string>, init: RequestInit = {}) =>
    synthesize(service.url, website, query, init);

  before(async () => {
    folder = await temporaryFolder();
    service = await startService(folder.path);
    website = await registerWebsite(service.url);
  });
  after(async () => {
    await service.stop();
    await folder.remove();
  });

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

    it("returns 204 for volume 0, without synthesis", async () => {
      const response = await get({ ...hello, volume: "0" });
      expect(response.status).to.equal(204);
      expect(response.headers.get("svc-prosody-applied")).to.equal("volume");
      expect(response.headers.get("cache-control")).to.equal("public, max-age=86400, s-maxage=604800");
    });

    it("treats absent, empty and null numbers alike", async () => {
      const tags = await Promise.all(
        [{}, { pitch: "" }, { pitch: "null" }, { pitch: "1" }].map(async (pitch) =>
          (await get({ ...hello, ...pitch } as Record<string, string>)).headers.get("etag"),
        ),
      );
      expect(new Set(tags).size).to.equal(1);
    });

    it("speaks ogg for the specialty languages", async () => {
      const response = await get({ lang: "cy-GB", text: "Bore da" });
      expect(response.status).to.equal(200);
      expect(response.headers.get("content-type")).to.equal("audio/ogg");
      expect((await bytesOf(response)).subarray(0, 4).toString()).to.equal("OggS");
    });

    it("speaks SSML", async () => {
      const plain = await bytesOf(await get({ ...hello, text: "one two" }));
      const paused = await bytesOf(await get({ ...hello, text: '<speak>one<break time="2s"/>two</speak>' }));
      expect(paused.length).to.be.above(plain.length + 8_000);
    });

    it("accepts the longest allowed text in a URL", async () => {
      const response = await get({ ...hello, text: "あ ".repeat(2_000), volume: "0" });
      expect(response.status).to.equal(204);
    });

    for (const [why, query, path] of [
      ["no text", { voice: "UK English Female" }, "text"],
      ["a blank text", { ...hello, text: " \n" }, "text"],
      ["a text without anything to speak", { ...hello, text: "..." }, "text"],
      ["SSML without anything to speak", { ...hello, text: "<speak>.</speak>" }, "text"],
      ["neither voice nor lang", { text: "x" }, "lang"],
      ["a pitch out of range", { ...hello, pitch: "2.1" }, "pitch"],
      ["a rate that is no number", { ...hello, rate: "fast" }, "rate"],
      ["an infinite volume", { ...hello, volume: "Infinity" }, "volume"],
      ["an unknown engine", { lang: "en-US", text: "x", engine: "g9" }, "engine"],
      ["a format that the engine does not have", { ...hello, format: "wav" }, "format"],
      ["a format that there is not", { ...hello, format: "flac" }, "format"],
      ["a text that is too long", { ...hello, text: "x".repeat(5_001) }, "text"],
      ["SSML that opens files", { ...hello, text: '<speak><audio src="/etc/passwd"/>x</speak>' }, "text"],
      ["SSML that is not well-formed", { ...hello, text: "<speak>x" }, "text"],
    ] as const) {
      it(`refuses ${why} with 400 and its path`, async () => {
        const response = await get(query as unknown as Record<string, string>);
        expect(response.status).to.equal(400);
        expect(response.headers.get("cache-control")).to.equal("no-store");
        const error = await errorOf(response);
        expect(error).to.include({ statusCode: 400, code: "VALIDATION_ERROR" });
        expect(error.errors?.map(({ path }) => path.join("."))).to.include(path);
      });
    }

    it("refuses a parameter that is given twice", async () => {
      const query = new URLSearchParams([...Object.entries(hello), ["pitch", "1"], ["pitch", "1"]]);
      const response = await fetch(`${service.url}/v2/text/synthesize?${query}`, {
        headers: authorize(website),
      });
      expect((await errorOf(response)).errors).to.deep.include({
        path: ["pitch"],
        message: "pitch is given more than once.",
      });
    });

    it("refuses a URL that is not percent-encoded UTF-8", async () => {
      for (const query of ["text=he%ffllo&lang=en-GB", "text=hello%zz&lang=en-GB", "text=x%&lang=en-GB"]) {
        const response = await fetch(`${service.url}/v2/text/synthesize?${query}`, {
          headers: authorize(website),
        });
        expect(response.status, query).to.equal(400);
        expect(await errorOf(response)).to.include({ code: "VALIDATION_ERROR" });
      }
    });

    it("returns 404 for an unknown voice, language or engine", async () => {
      for (const query of [
        { voice: "Nobody", text: "x" },
        { lang: "xx-XX", text: "x" },
        { lang: "en-US", text: "x", engine: "gwn" },
      ]) {
        const response = await get(query as unknown as Record<string, string>);
        expect(response.status).to.equal(404);
        expect(await errorOf(response)).to.include({ code: "NOT_FOUND" });
      }
    });

    it("returns the same 401 for no credentials, and for wrong and mixed ones", async () => {
      const other = await registerWebsite(service.url);
      for (const headers of [
        {},
        { "X-API-Key": website.apiKey, "X-API-Secret": "wrong" },
        { "X-API-Key": website.apiKey, "X-API-Secret": other.apiSecret },
        { "X-API-Key": "nobody", "X-API-Secret": website.apiSecret },
      ] as Record<string, string>[]) {
        const response = await fetch(`${service.url}/v2/text/synthesize?${new URLSearchParams(hello)}`, {
          headers,
        });
        expect(response.status).to.equal(401);
        expect(response.headers.get("www-authenticate")).to.equal("Bearer");
        expect(await errorOf(response)).to.deep.equal({
          message: "The API key or secret is missing or wrong.",
          statusCode: 401,
          code: "UNAUTHORIZED",
        });
      }
    });
  });

  describe("POST /v2/text/synthesize", () => {
    it("returns the audio of GET, cacheable for a day", async () => {
      const [byGet, byPost] = [await get(hello), await synthesizeByPost(service.url, website, hello)];
      expect(byPost.status).to.equal(200);
      expect(byPost.headers.get("cache-control")).to.equal("public, max-age=86400");
      expect((await bytesOf(byPost)).equals(await bytesOf(byGet))).to.equal(true);
    });

    it("refuses invalid numbers, bodies that are not JSON, and other media types", async () => {
      const headers = { ...authorize(website), "Content-Type": "application/json" };
      const post = (body: string, type = headers["Content-Type"]) =>
        fetch(`${service.url}/v2/text/synthesize`, {
          method: "POST",
          headers: { ...headers, "Content-Type": type },
          body,
        });
      for (const response of [
        await post(JSON.stringify({ ...hello, pitch: "1" })),
        await post("{"),
        await post("[]"),
        await post('"text"'),
        await post(JSON.stringify({ ...hello, text: "\ud800" })),
        await post(JSON.stringify(hello), "text/plain"),
      ]) {
        expect(response.status).to.equal(400);
        expect(await errorOf(response)).to.include({ code: "VALIDATION_ERROR" });
      }
    });

    it("tells a text of another type from a missing one", async () => {
      const messageFor = async (body: object) => {
        const headers = { ...authorize(website), "Content-Type": "application/json" };
        const url = `${service.url}/v2/text/synthesize`;
        const init = { method: "POST", headers, body: JSON.stringify(body) };
        return (await errorOf(await fetch(url, init))).message;
      };
      expect(await messageFor({ lang: "en" })).to.equal("text is required.");
      expect(await messageFor({ lang: "en", text: 1 })).to.equal("text must be a string.");
    });

    it("returns 404 with a reason for a stream of a free engine, requested by header or body", async () => {
      const post = (body: object, headers: Record<string, string> = {}) =>
        fetch(`${service.url}/v2/text/synthesize`, {
          method: "POST",
          headers: { ...authorize(website), "Content-Type": "application/json", ...headers },
          body: JSON.stringify(body),
        });
      for (const response of [
        await post(hello, { Accept: "text/event-stream" }),
        await post(hello, { Accept: "audio/mpeg, text/event-stream;q=0.9" }),
        await post({ ...hello, stream: true }),
        await post({ ...hello, stream: true, volume: 0 }),
      ]) {
        expect(response.status).to.equal(404);
        expect(await errorOf(response)).to.deep.equal({
          message: "There is no streaming provider for the engine g1.",
          statusCode: 404,
          code: "NOT_FOUND",
        });
      }
      expect((await post({ ...hello, stream: false }, { Accept: "*/*" })).status).to.equal(200);
      expect((await post({ ...hello, stream: "yes" })).status).to.equal(400);
      expect((await post({ stream: true }, { Accept: "text/event-stream" })).status).to.equal(400);
    });

    it("refuses a body over 1 MiB with 413", async () => {
      const response = await synthesizeByPost(service.url, website, {
        ...hello,
        text: "x".repeat(1_100_000),
      });
      expect(response.status).to.equal(413);
      expect(await errorOf(response)).to.include({ statusCode: 413 });
    });
  });

  it("returns 404 for unknown paths and 405 for wrong methods, in the error envelope", async () => {
    const unknown = await fetch(`${service.url}/v2/nowhere`);
    expect(unknown.status).to.equal(404);
    expect(await errorOf(unknown)).to.include({ code: "NOT_FOUND" });
    const wrong = await fetch(`${service.url}/v2/text/synthesize`, { method: "DELETE" });
    expect(wrong.status).to.equal(405);
    expect(wrong.headers.get("allow")).to.include("GET").and.to.include("POST");
    expect(await errorOf(wrong)).to.include({ statusCode: 405 });
  });

  it("returns 404 for audio that does not exist, and for malformed names", async () => {
    const never = createHash("sha256").update("never").digest("hex");
    for (const name of [`${never}.mp3`, "x.mp3", "..%2f..%2fevents.db", `${never}.exe`]) {
      expect((await fetch(`${service.url}/audio/${name}`)).status).to.equal(404);
    }
  });

  it("reports the health of its parts", async () => {
    const response = await fetch(`${service.url}/health`);
    expect(response.status).to.equal(200);
    const health = (await response.json()) as Health;
    expect(health.status).to.equal("ok");
    expect(health.parts).to.have.all.keys(
      "eventStore",
      "projections",
      "reports",
      "events",
      "clock",
      "queues",
      "seals",
      "engines",
      "voices",
      "audioStore",
    );
  });

  it("cancels the synthesis of a client that disconnects, and synthesizes for the next client", async () => {
    // A voice of flite, whose process exists only while it speaks.
    const query = { voice: "US English Female", text: "The client of this has left. ".repeat(20) };
    const leaving = new AbortController();
    const left = get(query, { signal: leaving.signal }).catch((error) => error.name);
    const flite = () =>
      service.pids.flatMap(descendantsOf).find(({ command }) => command.startsWith("flite"));
    /** Stops the speech processes, so that the synthesis cannot end by itself. Some may have exited already. */
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

  it("lets caches store a fallback voice for a minute only", async () => {
    const bad = { name: "Mute", lang: "en-GB", service: "g1", voiceName: "espeak:no-such-voice" };
    const good = { name: "Loud", lang: "en-GB", service: "g1", voiceName: "espeak:gmw/en+f2" };
    const ids: unknown[] = [];
    for (const voice of [bad, good])
      ids.push((await admin(service.url, "POST", "/system-voices", voice)).body.id);
    const voice = { name: "Fallible", flag: "gb", gender: "f", lang: "en-GB", voiceIDs: ids };
    expect((await admin(service.url, "POST", "/voices", voice)).status).to.equal(201);
    for (let attempt = 0; attempt < 2; attempt++) {
      const response = await get({ voice: "Fallible", text: "Somebody speaks." });
      expect(response.status).to.equal(200);
      expect(response.headers.get("cache-control")).to.equal("public, max-age=60");
    }
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
