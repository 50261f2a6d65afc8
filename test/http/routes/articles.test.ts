import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import { articleOf, postArticle, prepareArticle, urlsOf } from "../../support/articles.ts";
import {
  admin,
  authorize,
  bytesOf,
  type Credentials,
  errorOf,
  registerWebsite,
} from "../../support/client.ts";
import { duringSuite, duringTest } from "../../support/during.ts";
import { ask, startInProcessService } from "../../support/in-process-service.ts";
import { adminToken } from "../../support/instance.ts";
import { goodCredentials, serveProviders } from "../../support/wire/providers.ts";

const dayMs = 24 * 60 * 60_000;

describe("POST /v2/articles", () => {
  const providers = duringSuite(serveProviders);
  const service = duringSuite(() => startInProcessService(providers.env));
  const website = duringTest(() => registerWebsite(service.url));

  const prepare = (texts: readonly string[], more = {}) => prepareArticle(service.url, website, texts, more);
  /** Prepares the article, and reads all of its audio. */
  const hear = async (texts: readonly string[], more = {}) => {
    const article = await prepare(texts, more);
    for (const url of urlsOf(article)) {
      const response = await fetch(url);
      expect([response.status, (await bytesOf(response)).length > 0]).to.deep.equal([200, true]);
    }
    return article;
  };
  const usage = async (month = "2026-11", { apiKey }: Credentials = website) => {
    const { body } = await admin(service.url, "GET", `/keys/${apiKey}/usage?month=${month}`);
    return { requests: body.requests, characters: body.characters };
  };
  const refuse = async (body: unknown) => {
    const response = await postArticle(service.url, website, body);
    return { status: response.status, error: await errorOf(response) };
  };

  it("gives each part an address, whose audio is for caches, and later the duration", async () => {
    const texts = ["A headline of the paper.", "And its first paragraph."];
    const first = await prepare(texts, { rate: 1.2 });
    expect(first.parts.map(({ id, state, characters }) => [id, state, characters])).to.deep.equal([
      ["p0", "pending", 24],
      ["p1", "pending", 24],
    ]);
    expect(first).to.deep.include({ format: "mp3" });
    expect(first.parts[0]).to.deep.include({
      voice: "UK English Female",
      lang: "en-GB",
      format: "mp3",
      prosodyApplied: ["pitch", "rate", "volume"],
    });
    expect(first.total).to.deep.include({ characters: 48, exact: false });
    expect(first.total.seconds).to.be.within(1, 10);
    for (const { url = "", marks = "" } of first.parts) {
      const audio = await ask(url, { method: "HEAD" });
      expect(audio.status).to.equal(200);
      expect(audio.headers["cache-control"]).to.equal("public, max-age=31536000, immutable");
      expect(audio.headers["access-control-allow-origin"]).to.equal("*");
      expect((await fetch(marks)).status).to.equal(200);
    }
    const later = await prepare(texts, { rate: 1.2 });
    expect(later.parts.map(({ url }) => url)).to.deep.equal(first.parts.map(({ url }) => url));
    expect(later.parts.map(({ state }) => state)).to.deep.equal(["ready", "ready"]);
    const seconds = later.parts.reduce((sum, part) => sum + (part.seconds ?? 0), 0);
    expect(later.total.exact).to.equal(true);
    expect(later.total.seconds).to.be.closeTo(seconds, 0.001);
  });

  it("waits for a part that is not spoken yet, with HEAD, ranges and entity tags too", async () => {
    const { parts } = await prepare(["One to wait for.", "Two to wait for.", "Three.", "Four."]);
    const [head, range, tag, beyond] = parts.map(({ url = "" }) => url);
    const name = /[0-9a-f]{64}/.exec(tag ?? "")?.[0];
    const responses = await Promise.all([
      ask(head ?? "", { method: "HEAD" }),
      ask(range ?? "", { headers: { Range: "bytes=0-9" } }),
      ask(tag ?? "", { headers: { "If-None-Match": `"${name}"` } }),
      ask(beyond ?? "", { headers: { Range: "bytes=99999999-" } }),
    ]);
    expect(responses.map(({ status }) => status)).to.deep.equal([200, 206, 304, 416]);
  });

  it("sends a part while it is spoken, with the bytes that are stored", async () => {
    const long = "This sentence is one of many in a long paragraph. ".repeat(20);
    for (const voice of ["UK English Female", "US English Female"]) {
      const [url = ""] = urlsOf(await prepare([long], { voice }));
      const [first, second] = await Promise.all([fetch(url), fetch(url)]);
      expect(first.headers.get("cache-control")).to.equal("public, max-age=31536000, immutable");
      const received = [await bytesOf(first), await bytesOf(second), await bytesOf(await fetch(url))];
      expect(received.every((bytes) => bytes.equals(received[0] as Buffer))).to.equal(true);
    }
  });

  it("charges each part once a month, whoever reads it and however often", async () => {
    const texts = ["Charged once a month.", "The same here."];
    await hear(texts);
    for (let times = 0; times < 3; times++) await hear(texts);
    expect(await usage()).to.deep.equal({ requests: 2, characters: 35 });
  });

  it("charges only the changed parts of an edited article", async () => {
    await hear(["Not changed by the edit.", "To be changed."]);
    await hear(["Not changed by the edit.", "Changed.", "Not changed by the edit."]);
    expect(await usage()).to.deep.equal({ requests: 3, characters: 24 + 14 + 8 });
  });

  it("speaks a part again that was removed, without a charge", async () => {
    const texts = ["Removed, and made again."];
    const { parts } = await hear(texts);
    const hash = /[0-9a-f]{64}/.exec(parts[0]?.url ?? "")?.[0];
    // Audio that is still being written stays until it is written.
    do expect((await admin(service.url, "DELETE", `/audio/${hash}`)).status).to.be.within(200, 204);
    while ((await prepare(texts)).parts[0]?.state !== "pending");
    await hear(texts);
    expect(await usage()).to.deep.equal({ requests: 1, characters: 24 });
  });

  it("has no audio for a part of which nothing is spoken, and charges nothing for it", async () => {
    const { parts, total } = await prepare(["", "  \n ", "…", "***", "Spoken."]);
    const silent = { state: "ready", characters: 0, seconds: 0 };
    expect(parts.slice(0, 3)).to.deep.equal(["p0", "p1", "p2"].map((id) => ({ id, ...silent })));
    expect(parts[4]).to.include({ state: "pending", characters: 7 });
    expect(total.characters).to.be.within(7, 10);
    const muted = await prepare(["Muted."], { volume: 0 });
    expect(muted).to.deep.equal({
      parts: [{ id: "p0", ...silent }],
      total: { characters: 0, seconds: 0, exact: true },
    });
  });

  it("reads the other parts if there is no voice for one of them", async () => {
    const parts = [
      { id: "a", text: "A voice reads this." },
      { id: "b", text: "No voice reads this.", lang: "xx-XX" },
      { id: "c", text: "Un train.", lang: "fr-FR" },
    ];
    const response = await postArticle(service.url, website, { voice: "UK English Female", parts });
    const article = (await response.json()) as Awaited<ReturnType<typeof prepare>>;
    expect(article.parts.map(({ state }) => state)).to.deep.equal(["pending", "failed", "pending"]);
    expect(article.parts[1]?.error?.message).to.be.a("string");
    expect(article.parts[2]).to.include({ lang: "fr-FR" });
    expect(article.total.characters).to.equal(28);
    expect((await refuse({ parts: [{ id: "a", text: "x", lang: "xx-XX" }] })).status).to.equal(404);
  });

  it("refuses what it cannot read, with the path of the part", async () => {
    const twice = [
      { id: "a", text: "x" },
      { id: "a", text: "y" },
    ];
    for (const [body, path] of [
      [{}, ["parts"]],
      [articleOf([]), ["parts"]],
      [{ voice: "UK English Female", parts: twice }, ["parts"]],
      [articleOf(Array.from({ length: 201 }, (_, n) => `${n}`)), ["parts"]],
      [articleOf(Array.from({ length: 21 }, () => "x".repeat(5_000))), ["parts"]],
      [articleOf(["x", "x".repeat(5_001)]), ["parts", 1, "text"]],
      [articleOf(["x", "\ud800"]), ["parts", 1, "text"]],
      [{ parts: [{ id: "a", text: "x" }] }, ["parts", 0, "lang"]],
      [articleOf(["x", "<speak>unclosed"]), ["parts", 1, "text"]],
      [articleOf(["x"], { rate: 3 }), ["rate"]],
      [articleOf(["x"], { format: "wav" }), ["parts", 0, "format"]],
    ] as const) {
      const { status, error } = await refuse(body);
      expect([status, error.code], JSON.stringify(error)).to.deep.equal([400, "VALIDATION_ERROR"]);
      expect((error.errors as { path: unknown }[])[0]?.path).to.deep.equal(path);
    }
    expect(await usage()).to.deep.equal({ requests: 0, characters: 0 });
  });

  it("refuses an article that exceeds the quota before it speaks or charges any part", async () => {
    const poor = await registerWebsite(service.url, { monthlyCharacters: 50 });
    await prepareArticle(service.url, poor, ["Twenty characters, 1"]);
    const response = await postArticle(
      service.url,
      poor,
      articleOf(["Twenty characters, 1", "Twenty characters, 2", "Twenty characters, 3"]),
    );
    expect([response.status, (await errorOf(response)).code]).to.deep.equal([403, "KEY_SUSPENDED"]);
    expect(await usage("2026-11", poor)).to.deep.equal({ requests: 1, characters: 20 });
    const heard = await hear(["Twenty characters, 2"]);
    expect(heard.parts[0]?.state).to.equal("pending"); // it was not spoken before
  });

  it("fits if the parts to be charged do, and counts as one request of the minute", async () => {
    const poor = await registerWebsite(service.url, { monthlyCharacters: 25, requestsPerMinute: 100 });
    const once = "Twenty characters, 1";
    const first = await postArticle(service.url, poor, articleOf([once, once, "Four"]));
    const second = await postArticle(service.url, poor, articleOf([once, "Four", once]));
    expect([first.status, second.status]).to.deep.equal([200, 200]);
    expect(second.headers.get("x-ratelimit-remaining")).to.equal("98");
    expect(await usage("2026-11", poor)).to.deep.equal({ requests: 2, characters: 24 });
  });

  it("gives 50 readers at once the same addresses, charges once, and refuses nobody", async () => {
    const texts = Array.from({ length: 12 }, (_, n) => `Paragraph ${n} of an article with many readers.`);
    const articles = await Promise.all(Array.from({ length: 50 }, () => prepare(texts)));
    expect(new Set(articles.map((each) => urlsOf(each).join())).size).to.equal(1);
    const statuses = await Promise.all(
      urlsOf(articles[0] as never).map(async (url) => (await fetch(url)).status),
    );
    expect(new Set(statuses)).to.deep.equal(new Set([200]));
    const characters = texts.join("").length;
    expect(await usage()).to.deep.equal({ requests: 12, characters });
  });

  it("is audited as the servings that it charged, with their names", async () => {
    const { parts } = await hear(["An audited part.", "Another audited part."]);
    const audit = `${service.url}/admin/audit?apiKey=${website.apiKey}&type=SynthesisServed`;
    const { text } = await ask(audit, { headers: { Authorization: `Bearer ${adminToken}` } });
    const lines = text.trim().split("\n");
    const servings = lines.map((line): { data: { hash: string; characters: number } } => JSON.parse(line));
    expect(servings.map(({ data }) => data.characters)).to.have.members([16, 21]);
    expect(servings.map(({ data }) => data.hash)).to.have.members(
      parts.map(({ url }) => /[0-9a-f]{64}/.exec(url ?? "")?.[0]),
    );
  });

  it("charges nothing for a part that the provider failed to speak, and tries again", async () => {
    await admin(service.url, "PUT", `/websites/${website.id}/credentials/msv`, goodCredentials.msv);
    const texts = ["A part that fails at first."];
    const voice = "en-US-JennyNeural";
    providers.msv.faults.always({ kind: "refusal", status: 400 });
    const first = await prepare(texts, { voice });
    expect((await fetch(first.parts[0]?.url ?? "")).status).to.equal(503);
    providers.msv.faults.none();
    while (Number((await usage()).requests) > 0) await delay(5); // the void is recorded in the background
    await hear(texts, { voice });
    expect(await usage()).to.deep.equal({ requests: 1, characters: 27 });
  });

  it("needs the same preflight as a synthesis", async () => {
    const preflight = (path: string) =>
      ask(`${service.url}${path}`, {
        method: "OPTIONS",
        headers: {
          Origin: "https://paper.example",
          "Access-Control-Request-Method": "POST",
          "Access-Control-Request-Headers": "content-type,x-api-key",
        },
      });
    const [articles, synthesis] = [await preflight("/v2/articles"), await preflight("/v2/text/synthesize")];
    const comparable = ({ status, headers }: typeof articles) => {
      const { date, "x-request-id": id, ...others } = headers;
      return { status, others };
    };
    expect(comparable(articles)).to.deep.equal(comparable(synthesis));
    const other = await ask(`${service.url}/v2/articles`, { headers: authorize(website) });
    expect([other.status, other.headers.allow]).to.deep.equal([405, "POST"]);
  });

  // Time cannot go back.
  it("gives private audio of premium voices for a day, with a signature", async () => {
    await admin(service.url, "PUT", `/websites/${website.id}/credentials/msv`, goodCredentials.msv);
    const texts = ["A part that a provider speaks."];
    const { parts } = await prepare(texts, { voice: "en-US-JennyNeural" });
    const url = parts[0]?.url ?? "";
    const audio = await fetch(url);
    expect(audio.status).to.equal(200);
    expect(audio.headers.get("cache-control")).to.equal("private, max-age=86400");
    const asked = providers.msv.requests.length;
    const [bare] = url.split("?");
    expect((await fetch(bare ?? "")).status).to.equal(404);
    expect((await fetch(url.replace(/key=[^&]*/, "key=another"))).status).to.equal(404);
    service.time.now += dayMs;
    expect((await fetch(url)).status).to.equal(404);
    const next = await prepare(texts, { voice: "en-US-JennyNeural" });
    expect((await fetch(next.parts[0]?.url ?? "")).status).to.equal(200);
    expect(providers.msv.requests).to.have.length(asked);
    expect(await usage()).to.deep.equal({ requests: 1, characters: 30 });
    await admin(service.url, "POST", `/keys/${website.apiKey}/suspend`, { reason: "a test" });
    expect((await fetch(next.parts[0]?.url ?? "")).status).to.equal(404);
    expect((await postArticle(service.url, website, articleOf(texts))).status).to.equal(403);
  });

  it("charges the parts again in a new month, at the first request for the article", async () => {
    const texts = ["Charged every month.", "The same here."];
    const urls = urlsOf(await hear(texts));
    service.time.now = Date.parse("2026-12-01T00:00:01.000Z");
    for (const url of urls) expect((await fetch(url)).status).to.equal(200);
    expect(await usage("2026-12")).to.deep.equal({ requests: 0, characters: 0 });
    const { parts } = await prepare(texts);
    expect(parts.map(({ state }) => state)).to.deep.equal(["ready", "ready"]);
    expect(await usage("2026-12")).to.deep.equal({ requests: 2, characters: 34 });
    expect(await usage()).to.deep.equal({ requests: 2, characters: 34 });
  });
});

describe("POST /v2/articles with AUDIO_SHARING=none", () => {
  const service = duringSuite(() => startInProcessService({ AUDIO_SHARING: "none" }));

  it("signs the addresses of all audio, because it is private", async () => {
    const website = await registerWebsite(service.url);
    const article = await prepareArticle(service.url, website, ["For one website alone."]);
    const [url = ""] = urlsOf(article);
    const audio = await ask(url, { method: "HEAD" });
    expect(audio.status).to.equal(200);
    expect(audio.headers["cache-control"]).to.equal("private, max-age=86400");
    expect(audio.headers.link).to.equal(undefined);
    expect(article.parts[0]?.marks).to.equal(undefined);
    expect((await fetch(url.replace(/[?].*/, ""))).status).to.equal(404);
    const other = await registerWebsite(service.url);
    const [otherUrl = ""] = urlsOf(await prepareArticle(service.url, other, ["For one website alone."]));
    expect(new URL(otherUrl).pathname).not.to.equal(new URL(url).pathname);
  });
});
