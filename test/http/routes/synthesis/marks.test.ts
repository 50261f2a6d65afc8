import { expect } from "chai";
import { openFilesystemAudioStore } from "../../../../src/audio/store/filesystem/filesystem-audio-store.ts";
import { type Mark, marksMimeType } from "../../../../src/domain/synthesis/marks.ts";
import { objectOf } from "../../../audio/pipeline/sounds.ts";
import { admin, authorize, registerWebsite } from "../../../support/client.ts";
import { duringSuite } from "../../../support/during.ts";
import { ask, startInProcessService } from "../../../support/in-process-service.ts";
import { temporaryFolder } from "../../../support/service.ts";
import { wordAt } from "../../../support/word-at.ts";

describe("The marks of audio", () => {
  const folder = duringSuite(temporaryFolder);
  const service = duringSuite(() => startInProcessService({ AUDIO_STORE: `file:${folder.path}` }));
  const website = duringSuite(() => registerWebsite(service.url));

  const synthesize = (query: Record<string, string>, init: { method?: string; headers?: object } = {}) =>
    ask(`${service.url}/v2/text/synthesize?${new URLSearchParams({ lang: "fr-FR", ...query })}`, {
      ...init,
      headers: { ...authorize(website), ...init.headers },
    });
  const linkOf = ({ headers }: { headers: Record<string, string | undefined> }): string => {
    const [, path] =
      /<([^>]+)>; rel="describedby"; type="application\/x-ndjson"/.exec(headers.link ?? "") ?? [];
    if (path === undefined) throw new Error(`no link to marks: ${headers.link}`);
    return service.url + path;
  };
  const marksOf = async (url: string): Promise<Mark[]> => {
    const response = await fetch(url);
    expect([response.status, response.headers.get("content-type")]).to.deep.equal([200, marksMimeType]);
    const lines = (await response.text()).trimEnd().split("\n");
    return lines.map((line) => JSON.parse(line) as Mark);
  };

  it("are linked by every response with the audio, and by its object", async () => {
    const first = await synthesize({ text: "Un, deux, trois." });
    const object = service.url + first.headers["content-location"];
    const responses = [
      await synthesize({ text: "Un, deux, trois." }),
      await synthesize({ text: "Un, deux, trois." }, { method: "HEAD" }),
      await synthesize(
        { text: "Un, deux, trois." },
        { headers: { "If-None-Match": first.headers.etag ?? "" } },
      ),
      await ask(object),
      await ask(object, { method: "HEAD" }),
      await ask(object, { headers: { Range: "bytes=0-9" } }),
    ];
    expect(responses.map(({ status }) => status)).to.deep.equal([200, 200, 304, 200, 200, 206]);
    for (const response of responses) expect(linkOf(response)).to.equal(linkOf(first));
    expect(linkOf(first)).to.equal(object.replace(/mp3$/, "marks.json"));
  });

  it("are lines of JSON with times in the audio and places in the text, and immutable", async () => {
    const text = "Voilà \u{1F642} un été. Deux !";
    const response = await synthesize({ text });
    const marks = await marksOf(linkOf(response));
    for (const mark of marks) expect(Object.keys(mark)).to.deep.equal(["time", "type", "start", "end"]);
    const words = (type: Mark["type"]) =>
      marks.filter((mark) => mark.type === type).map((mark) => wordAt(text, mark));
    expect(words("word")).to.include.members(["Voilà", "un", "été", "Deux"]);
    expect(words("sentence").at(-1)).to.equal("Deux !");
    const times = marks.map(({ time }) => time);
    expect(times).to.deep.equal(times.toSorted((a, b) => a - b));
    expect(times.at(-1)).to.be.below(Number(response.headers["x-audio-duration"]) * 1000);
    const { headers } = await ask(linkOf(response));
    expect(headers["cache-control"]).to.equal("public, max-age=31536000, immutable");
    expect(headers["access-control-allow-origin"]).to.equal("*");
    const again = await ask(linkOf(response), { headers: { "If-None-Match": headers.etag ?? "" } });
    expect(again.status).to.equal(304);
  });

  it("refer to SSML as sent, comments and markup included", async () => {
    const text =
      '<?xml version="1.0"?><!-- un --><speak version="1.1">Un <emphasis>deux</emphasis> &amp; <sub alias="trois">3</sub></speak>';
    const marks = await marksOf(linkOf(await synthesize({ text })));
    const words = marks.filter(({ type }) => type === "word");
    expect(words.map((mark) => wordAt(text, mark))).to.deep.equal(["Un", "deux", "&amp;", "3"]);
  });

  it("follow the pieces of a long text to its end", async () => {
    const text = "Une phrase de plus, puis encore une autre. ".repeat(30).trim();
    const response = await synthesize({ text });
    const words = (await marksOf(linkOf(response))).filter(({ type }) => type === "word");
    expect(words.filter((mark) => wordAt(text, mark) === "phrase").map(({ start }) => start)).to.deep.equal(
      Array.from({ length: 30 }, (_, at) => 43 * at + 4),
    );
    const duration = Number(response.headers["x-audio-duration"]) * 1000;
    expect(words.at(-1)?.time).to.be.within(duration - 2000, duration - 100);
  });

  it("are not linked for a tool without timings, or for a text whose places would differ", async () => {
    const flite = await synthesize({ text: "One, two.", lang: "en-US", name: "flite:slt" });
    expect([flite.status, flite.headers.link]).to.deep.equal([200, undefined]);
    const decomposed = await synthesize({ text: "E\u0301te\u0301." });
    expect([decomposed.status, decomposed.headers.link]).to.deep.equal([200, undefined]);
  });

  it("are linked beside the successor of the first version", async () => {
    const query = new URLSearchParams({ text: "Un.", lang: "fr-FR", key: website.apiKey });
    const response = await ask(`${service.url}/v1/text:synthesize?${query}`, { headers: authorize(website) });
    expect(response.headers.link).to.include('rel="successor-version"').and.include('rel="describedby"');
  });

  it("of an earlier version, which kept the words, are served without them", async () => {
    const hash = "a".repeat(64);
    const lines = '{"time":50,"type":"word","start":0,"end":6,"value":"secret"}\n';
    const store = await openFilesystemAudioStore(folder);
    await store.put(`public/${hash}.marks.json`, objectOf(Buffer.from(lines)));
    const served = await ask(`${service.url}/audio/${hash}.marks.json`);
    expect(served.text).to.equal('{"time":50,"type":"word","start":0,"end":6}\n');
    const part = await ask(`${service.url}/audio/${hash}.marks.json`, { headers: { Range: "bytes=-6" } });
    expect([part.status, part.text]).to.deep.equal([206, served.text.slice(-6)]);
    const head = await ask(`${service.url}/audio/${hash}.marks.json`, { method: "HEAD" });
    expect(head.headers["content-length"]).to.equal(String(served.text.length));
  });

  it("are not found for audio that does not exist", async () => {
    expect((await ask(`${service.url}/audio/${"0".repeat(64)}.marks.json`)).status).to.equal(404);
  });
});

describe("marks=phoneme", () => {
  const service = duringSuite(startInProcessService);
  const website = duringSuite(() => registerWebsite(service.url));

  const text = "Un été.";
  const get = (query: Record<string, string>, method = "GET") =>
    ask(`${service.url}/v2/text/synthesize?${new URLSearchParams({ lang: "fr-FR", text, ...query })}`, {
      method,
      headers: authorize(website),
    });
  const fetchText = async (query: Record<string, string>) => {
    const url = `${service.url}/v2/text/synthesize?${new URLSearchParams({ lang: "fr-FR", text, ...query })}`;
    return { text: await (await fetch(url, { headers: authorize(website) })).text() };
  };

  it("is refused, uncharged, for a voice that reports no words", async () => {
    const response = await get({ marks: "phoneme", lang: "en-US", voice: "US English Female" });
    expect(response.status).to.equal(400);
  });

  it("responds with the marks with their words, which no cache may store, and names the audio", async () => {
    const response = await get({ marks: "phoneme" });
    expect([response.status, response.headers["content-type"]]).to.deep.equal([200, marksMimeType]);
    expect(response.headers["cache-control"]).to.equal("no-store");
    expect(response.headers).to.not.include.keys("etag", "content-location");
    const { text: lines } = await fetchText({ marks: "phoneme" });
    const values = lines
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
      .map(({ type, value }) => [type, value]);
    expect(values).to.deep.equal([
      ["sentence", "Un été."],
      ["word", "Un"],
      ["word", "été"],
    ]);
    const [, path] = /<([^>]+)>; rel="describes"; type="audio\/mpeg"/.exec(response.headers.link ?? "") ?? [];
    const audio = await get({});
    expect(path).to.equal(audio.headers["content-location"]);
  });

  it("responds with marks by POST, and audio to the same request without it", async () => {
    const post = (body: object) =>
      ask(`${service.url}/v2/text/synthesize`, {
        method: "POST",
        headers: { ...authorize(website), "Content-Type": "application/json" },
        body: JSON.stringify({ lang: "fr-FR", text, ...body }),
      });
    const types: (string | undefined)[] = [];
    for (const body of [{ marks: "phoneme" }, {}]) types.push((await post(body)).headers["content-type"]);
    for (const query of [{ marks: "phoneme" }, {}, { marks: "phoneme" }, {}] as Record<string, string>[])
      types.push((await get(query)).headers["content-type"]);
    const [marks, audio] = [marksMimeType, "audio/mpeg"];
    expect(types).to.deep.equal([marks, audio, marks, audio, marks, audio]);
  });

  it("is charged for each request, whatever its Idempotency-Key: its voice speaks each time", async () => {
    const caller = await registerWebsite(service.url);
    const headers = {
      ...authorize(caller),
      "Content-Type": "application/json",
      "Idempotency-Key": "once",
    };
    const body = JSON.stringify({ lang: "fr-FR", text, marks: "phoneme" });
    const again = () => ask(`${service.url}/v2/text/synthesize`, { method: "POST", headers, body });
    for (let n = 0; n < 3; n++) expect((await again()).status).to.equal(200);
    const { body: usage } = await admin(service.url, "GET", `/keys/${caller.apiKey}/usage`);
    expect(JSON.stringify(usage)).to.include(`"characters":${3 * text.length}`);
  });

  it("has the headers of marks for HEAD, and synthesizes nothing", async () => {
    const { status, headers } = await get({ text: "Jamais dit.", marks: "phoneme" }, "HEAD");
    expect([status, headers["content-type"], headers["cache-control"]]).to.deep.equal([
      ...[200, marksMimeType, "no-store"],
    ]);
  });

  it("is refused with another value", async () => {
    expect((await get({ marks: "letters" })).status).to.equal(400);
  });
});
