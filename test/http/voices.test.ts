import { expect } from "chai";
import {
  VoiceDetailResponse,
  VoicesByLanguageResponse,
  VoicesListResponse,
} from "../../src/http/voices/schemas.ts";
import { admin, authorize, type Credentials, registerWebsite } from "../support/client.ts";
import { ask, type ServedHere, serveHere } from "../support/served-here.ts";

const paths = ["/v2/voices", "/v2/voices/by-language/de-DE", "/v2/voices/UK%20English%20Female"];

describe("the voice endpoints", () => {
  let service: ServedHere;
  let website: Credentials;

  before(async () => {
    service = await serveHere();
    website = await registerWebsite(service.url);
  });
  after(() => service.close());

  const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
    ask(service.url + path, { method, headers: { ...authorize(website), ...headers } });
  const json = async (path: string) => JSON.parse((await get(path)).text);
  const etagOf = async (path: string) => (await get(path)).headers.etag ?? "";
  const addVoice = (name: string, members = {}) =>
    admin(service.url, "POST", "/voices", {
      ...{ name, flag: "de", gender: "f", lang: "de-DE", voiceIDs: [300] },
      ...members,
    });

  it("list every voice and system voice", async () => {
    const body = await json("/v2/voices");
    expect(VoicesListResponse.parse(body)).to.deep.equal(body);
    expect(body.count).to.equal(body.voices.length).and.to.be.at.least(256);
    const known = new Set(body.systemVoices.map(({ id }: { id: number }) => id));
    for (const { voiceIDs } of body.voices) for (const id of voiceIDs) expect(known.has(id)).to.equal(true);
  });

  it("list the voices of exactly one language", async () => {
    const body = await json("/v2/voices/by-language/de-DE");
    expect(VoicesByLanguageResponse.parse(body)).to.deep.equal(body);
    expect(body).to.include({ language: "de-DE", count: 2 });
    expect(body.voices.map(({ name }: { name: string }) => name)).to.include("German Female");
  });

  it("list none for a language that nobody speaks, or that is written otherwise", async () => {
    for (const lang of ["de-de", "de", "xx", "%F0%9F%98%80", "x".repeat(300), "%E0%A4%A"]) {
      const { status, text } = await get(`/v2/voices/by-language/${lang}`);
      expect(status, lang).to.equal(200);
      expect(JSON.parse(text), lang).to.deep.include({ voices: [], count: 0 });
    }
  });

  it("show one voice by exactly its name", async () => {
    const body = await json("/v2/voices/UK%20English%20Female");
    expect(VoiceDetailResponse.parse(body)).to.deep.equal(body);
    expect(body.voice).to.include({ name: "UK English Female", lang: "en-GB" });
  });

  it("answer 404 for a name that no voice has", async () => {
    for (const name of ["nobody", "uk%20english%20female", "%E0%A4%A", "x".repeat(300), "..%2Fvoices"]) {
      const { status, text } = await get(`/v2/voices/${name}`);
      expect([status, JSON.parse(text).error.code], name).to.deep.equal([404, "NOT_FOUND"]);
    }
  });

  it("show a voice whatever its name is made of", async () => {
    for (const name of ["100% ?#&+;=@:", `"Zoë" <ж> 日本語 $!~*'()[]`, "report", "by-language", "%2F"]) {
      expect((await addVoice(name)).status, name).to.equal(201);
      const { status, text } = await get(`/v2/voices/${encodeURIComponent(name)}`);
      expect([status, JSON.parse(text).voice?.name]).to.deep.equal([200, name]);
    }
  });

  describe("have a strong tag", () => {
    it("and answer 304 without a body to whoever has the answer", async () => {
      for (const path of paths) {
        const first = await get(path);
        const etag = first.headers.etag ?? "";
        expect(etag, path).to.match(/^"[\w-]{43}"$/);
        for (const tag of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
          const { status, headers, text } = await get(path, { "If-None-Match": tag });
          expect([status, text], `${path} ${tag}`).to.deep.equal([304, ""]);
          for (const name of ["etag", "cache-control", "vary"]) {
            expect(headers[name], name).to.equal(first.headers[name]);
          }
        }
        expect((await get(path, { "If-None-Match": '"x"' })).status).to.equal(200);
      }
    });

    it("that is the answer's, and asked for again each time", async () => {
      for (const path of paths) {
        const { headers } = await get(path);
        expect(headers["cache-control"]).to.equal("private, no-cache");
        expect(headers["content-type"]).to.equal("application/json; charset=utf-8");
        expect(headers.vary).to.contain("X-API-Key").and.to.contain("X-API-Secret").and.to.contain("Origin");
        const head = await get(path, {}, "HEAD");
        expect([head.status, head.text]).to.deep.equal([200, ""]);
        for (const name of ["etag", "content-length", "cache-control", "vary"]) {
          expect(head.headers[name], name).to.equal(headers[name]);
        }
      }
    });

    it("that is the same for every website, in every order of asking", async () => {
      const other = await registerWebsite(service.url);
      for (const path of paths) {
        const { headers } = await ask(service.url + path, { headers: authorize(other) });
        expect(headers.etag).to.equal(await etagOf(path));
      }
    });

    it("that is another as soon as the answer is, and not before", async () => {
      const before = await Promise.all(paths.map(etagOf));
      expect((await addVoice("A further German")).status).to.equal(201);
      const [list, german, female] = await Promise.all(paths.map(etagOf));
      expect(list).to.not.equal(before[0]);
      expect(german).to.not.equal(before[1]);
      expect(female).to.equal(before[2]);
      await admin(service.url, "PATCH", "/voices/A%20further%20German", { flag: "at" });
      expect(await etagOf("/v2/voices")).to.not.equal(list);
      expect((await json("/v2/voices/A%20further%20German")).voice.flag).to.equal("at");
      await admin(service.url, "PATCH", "/voices/A%20further%20German", { flag: "de" });
      expect(await etagOf("/v2/voices")).to.equal(list);
    });
  });

  describe("take a query", () => {
    it("with each parameter once, and none too long", async () => {
      for (const [query, path] of [
        ["browser=a&browser=b", "browser"],
        ["osVersion=1&osVersion=1", "osVersion"],
        [`os=${"x".repeat(101)}`, "os"],
      ]) {
        const { status, headers, text } = await get(`/v2/voices?${query}`);
        expect(status, query).to.equal(400);
        expect(headers["cache-control"]).to.equal("no-store");
        const { code, errors } = JSON.parse(text).error;
        expect([code, errors[0].path]).to.deep.equal(["VALIDATION_ERROR", [path]]);
      }
    });

    it("that is percent-encoded UTF-8", async () => {
      expect((await get("/v2/voices?os=%E0%A4%A")).status).to.equal(400);
    });

    it("with whatever else in it", async () => {
      for (const query of ["", "browser=", "lang=de&lang=en", "os=%00", "browser=%F0%9F%98%80"]) {
        expect((await get(`/v2/voices?${query}`)).status, query).to.equal(200);
      }
    });
  });

  it("are for keys that are known, within their limits and not suspended", async () => {
    const limited = await registerWebsite(service.url, { requestsPerMinute: 3 });
    const headers = authorize(limited);
    for (const path of paths) {
      expect((await ask(service.url + path)).status).to.equal(401);
      const { status, headers: told } = await ask(service.url + path, { headers });
      expect([status, told["x-ratelimit-limit"]]).to.deep.equal([200, "3"]);
    }
    const refused = await ask(`${service.url}/v2/voices`, { headers });
    expect([refused.status, refused.headers["x-ratelimit-remaining"]]).to.deep.equal([429, "0"]);
    expect(refused.headers["retry-after"]).to.match(/^\d+$/);
    const other = await registerWebsite(service.url);
    await admin(service.url, "POST", `/keys/${other.apiKey}/suspend`, { reason: "unpaid" });
    const suspended = await ask(`${service.url}/v2/voices`, { headers: authorize(other) });
    expect([suspended.status, JSON.parse(suspended.text).error.code]).to.deep.equal([403, "KEY_SUSPENDED"]);
  });

  it("allow reading and nothing else", async () => {
    for (const path of paths) {
      const { status, headers } = await get(path, {}, "DELETE");
      expect([status, headers.allow], path).to.deep.equal([405, "HEAD, GET"]);
    }
  });
});
