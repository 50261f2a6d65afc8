import { expect } from "chai";
import {
  VoiceDetailResponse,
  VoicesByLanguageResponse,
  VoicesListResponse,
} from "../../../src/http/routes/voices/schemas.ts";
import { admin, authorize, registerWebsite } from "../../support/client.ts";
import { duringSuite } from "../../support/during.ts";
import { ask, startInProcessService } from "../../support/in-process-service.ts";

const paths = ["/v2/voices", "/v2/voices/by-language/de-DE", "/v2/voices/UK%20English%20Female"];

describe("the voice endpoints", () => {
  const service = duringSuite(startInProcessService);
  const website = duringSuite(() => registerWebsite(service.url));

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
    expect(body).to.include({ language: "de-DE", count: body.voices.length });
    expect(body.voices.map(({ name }: { name: string }) => name)).to.deep.equal([
      "German Female",
      "German Male",
      "Deutsch Female",
      "Deutsch Male",
    ]);
  });

  it("return an empty list for an unknown language and for another spelling", async () => {
    for (const lang of ["de-de", "de", "xx", "%F0%9F%98%80", "x".repeat(300), "%E0%A4%A"]) {
      const { status, text } = await get(`/v2/voices/by-language/${lang}`);
      expect(status, lang).to.equal(200);
      expect(JSON.parse(text), lang).to.deep.include({ voices: [], count: 0 });
    }
  });

  it("mark the service's voices as fallback voices, after the native voices", async () => {
    const { voices, systemVoices } = VoicesListResponse.parse(await json("/v2/voices"));
    const natives = new Set(systemVoices.filter((one) => one.service === undefined).map(({ id }) => id));
    expect(natives.size).to.be.above(100);
    for (const { id, fallbackVoice } of systemVoices) {
      expect(fallbackVoice, String(id)).to.equal(natives.has(id) ? undefined : true);
    }
    const { voiceIDs = [] } = voices.find(({ name }) => name === "UK English Female") ?? {};
    expect(natives.has(voiceIDs[0] ?? 0)).to.equal(true);
    expect(voiceIDs.slice(-2)).to.deep.equal([10, 12]);
  });

  it("show a voice by its exact name", async () => {
    const body = await json("/v2/voices/UK%20English%20Female");
    expect(VoiceDetailResponse.parse(body)).to.deep.equal(body);
    expect(body.voice).to.include({ name: "UK English Female", lang: "en-GB" });
  });

  it("return 404 for an unknown name", async () => {
    for (const name of ["nobody", "uk%20english%20female", "%E0%A4%A", "x".repeat(300), "..%2Fvoices"]) {
      const { status, text } = await get(`/v2/voices/${name}`);
      expect([status, JSON.parse(text).error.code], name).to.deep.equal([404, "NOT_FOUND"]);
    }
  });

  it("show a voice whose name has special characters", async () => {
    for (const name of ["100% ?#&+;=@:", `"Zoë" <ж> 日本語 $!~*'()[]`, "report", "by-language", "%2F"]) {
      expect((await addVoice(name)).status, name).to.equal(201);
      const { status, text } = await get(`/v2/voices/${encodeURIComponent(name)}`);
      expect([status, JSON.parse(text).voice?.name]).to.deep.equal([200, name]);
    }
  });

  describe("have a strong entity tag", () => {
    it("and return 304 without a body if it matches", async () => {
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

    it("of the response, which is revalidated before every use", async () => {
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

    it("that is the same for every website", async () => {
      const other = await registerWebsite(service.url);
      for (const path of paths) {
        const { headers } = await ask(service.url + path, { headers: authorize(other) });
        expect(headers.etag).to.equal(await etagOf(path));
      }
    });

    it("that changes exactly when the response changes", async () => {
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

  describe("filter by language and gender", () => {
    const list = async (query: string) => VoicesListResponse.parse(await json(`/v2/voices?${query}`));
    const namesFor = async (query: string) => (await list(query)).voices.map(({ name }) => name);

    it("by a language range, ignoring case", async () => {
      const { voices, count } = await list("lang=en");
      expect(count).to.equal(voices.length);
      expect(new Set(voices.map(({ lang }) => lang))).to.include.keys("en-GB", "en-US", "en-AU");
      for (const { lang } of voices) expect(lang).to.match(/^en-/);
      expect(await namesFor("lang=EN-gb"))
        .to.include("UK English Male")
        .and.not.include("US English Male");
      expect(await namesFor("lang=enm")).to.deep.equal([]);
      expect(await namesFor("lang=*")).to.deep.equal(await namesFor(""));
    });

    it("by any code of a language", async () => {
      const chinese = await namesFor("lang=zh");
      expect(chinese).to.include.members(["Chinese Female", "Cantonese Male", "Chinese Taiwan Female"]);
      for (const [lang, other] of [
        ["cmn-CN", "zh-CN"],
        ["yue", "zh-HK"],
        ["tl", "fil"],
        ["iw", "he"],
        ["no", "nb"],
        ["eng", "en"],
      ] as const) {
        expect(await namesFor(`lang=${lang}`), lang)
          .to.deep.equal(await namesFor(`lang=${other}`))
          .and.not.deep.equal([]);
      }
    });

    it("by a gender in any of its spellings", async () => {
      for (const [gender, short] of [
        ["f", "f"],
        ["female", "f"],
        ["m", "m"],
        ["male", "m"],
      ]) {
        const { voices } = await list(`gender=${gender}`);
        expect(new Set(voices.map((one) => one.gender)), gender).to.deep.equal(new Set([short]));
      }
      expect(await namesFor("lang=fr-FR&gender=female")).to.deep.equal(["French Female"]);
    });

    it("with the system voices of the remaining voices", async () => {
      const { voices, systemVoices } = await list("lang=cy&gender=m");
      const behind = voices.flatMap(({ voiceIDs }) => voiceIDs);
      expect(systemVoices.map(({ id }) => id)).to.have.members(behind);
    });

    it("together with a platform", async () => {
      const { body } = await admin(service.url, "POST", "/system-voices", { name: "Rocko", lang: "de-DE" });
      await addVoice("Rocko of the browser", { voiceIDs: [body.id] });
      expect(await namesFor("lang=de")).to.include("Rocko of the browser");
      expect(await namesFor("lang=de&browser=Firefox&os=Linux")).to.not.include("Rocko of the browser");
    });

    it("with their own entity tag and link", async () => {
      const queries = ["", "?lang=en", "?lang=en&gender=f", "?gender=f", "?lang=en-GB"];
      const etags = await Promise.all(queries.map((query) => etagOf(`/v2/voices${query}`)));
      expect(new Set(etags).size).to.equal(queries.length);
      for (const [index, query] of queries.entries()) {
        const tag = etags[index] ?? "";
        expect((await get(`/v2/voices${query}`, { "If-None-Match": tag })).status, query).to.equal(304);
      }
      expect((await list("gender=female&lang=en"))._links.self.href).to.equal(
        `${service.url}/v2/voices?lang=en&gender=female`,
      );
    });

    it("and link to themselves in compressed responses too", async () => {
      for (const query of ["lang=de", "lang=DE", "lang=de&os=Linux"]) {
        const headers = { ...authorize(website), "Accept-Encoding": "gzip" };
        const response = await fetch(`${service.url}/v2/voices?${query}`, { headers });
        expect(response.headers.get("content-encoding")).to.equal("gzip");
        const { _links } = VoicesListResponse.parse(await response.json());
        expect(new URL(_links.self.href).search.slice(1).split("&").sort().join("&")).to.equal(query);
      }
    });

    it("and refuse invalid ranges and genders", async () => {
      for (const [query, path] of [
        ["lang=not%20a%20language", "lang"],
        ["lang=en_GB", "lang"],
        ["lang=en-", "lang"],
        [`lang=${"a-".repeat(20)}a`, "lang"],
        ["lang=de&lang=en", "lang"],
        ["gender=x", "gender"],
        ["gender=Female", "gender"],
      ]) {
        const { status, text } = await get(`/v2/voices?${query}`);
        expect([status, JSON.parse(text).error.errors?.[0].path], query).to.deep.equal([400, [path]]);
      }
    });
  });

  describe("accept a query", () => {
    it("with each parameter once, within its maximum length", async () => {
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

    it("with empty and unknown parameters, which are ignored", async () => {
      for (const query of [
        "",
        "browser=",
        "lang=&gender=",
        "colour=red&colour=blue",
        "os=%00",
        "browser=%F0%9F%98%80",
      ]) {
        expect((await get(`/v2/voices?${query}`)).status, query).to.equal(200);
      }
    });
  });

  it("require a valid key, within its limits and not suspended", async () => {
    const limited = await registerWebsite(service.url, { requestsPerMinute: 3 });
    const headers = authorize(limited);
    for (const path of paths) {
      expect((await ask(service.url + path)).status).to.equal(401);
      const { status, headers: response } = await ask(service.url + path, { headers });
      expect([status, response["x-ratelimit-limit"]]).to.deep.equal([200, "3"]);
    }
    const refused = await ask(`${service.url}/v2/voices`, { headers });
    expect([refused.status, refused.headers["x-ratelimit-remaining"]]).to.deep.equal([429, "0"]);
    expect(refused.headers["retry-after"]).to.match(/^\d+$/);
    const other = await registerWebsite(service.url);
    await admin(service.url, "POST", `/keys/${other.apiKey}/suspend`, { reason: "unpaid" });
    const suspended = await ask(`${service.url}/v2/voices`, { headers: authorize(other) });
    expect([suspended.status, JSON.parse(suspended.text).error.code]).to.deep.equal([403, "KEY_SUSPENDED"]);
  });

  it("allow only reading", async () => {
    for (const path of paths) {
      const { status, headers } = await get(path, {}, "DELETE");
      expect([status, headers.allow], path).to.deep.equal([405, "HEAD, GET"]);
    }
  });
});
