import { expect } from "chai";
import { pino } from "pino";
import type { Mark } from "../../../src/domain/synthesis/marks.ts";
import { admin, authorize, type Credentials, registerWebsite } from "../../support/client.ts";
import { duringTest } from "../../support/during.ts";
import { ask, type InProcessService, startInProcessService } from "../../support/in-process-service.ts";
import { adminToken } from "../../support/service.ts";
import { goodCredentials, serveProviders, type WireProviders } from "../../support/wire/providers.ts";
import { wordAt } from "../../support/word-at.ts";

const pls = `<?xml version="1.0" encoding="UTF-8"?>
<lexicon version="1.0" xmlns="http://www.w3.org/2005/01/pronunciation-lexicon" alphabet="ipa" xml:lang="en">
  <lexeme><grapheme>W3C</grapheme><alias>World Wide Web Consortium</alias></lexeme>
</lexicon>`;
const common = {
  lang: "en",
  rules: [
    { grapheme: "W3C", alias: "World Wide Web Consortium" },
    { grapheme: "tomato", phoneme: "təˈmɑːtəʊ", alias: "tomarto" },
  ],
};

describe("a website's lexicons", () => {
  const website = duringTest(() => registerWebsite(service.url));
  const lines: { fastPath?: true }[] = [];
  let providers: WireProviders;
  let service: InProcessService;
  let other: Credentials;

  before(async () => {
    const log = pino({ level: "debug" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
    providers = await serveProviders();
    service = await startInProcessService(providers.env, log);
    other = await registerWebsite(service.url);
  });
  after(async () => {
    await service.close();
    await providers.close();
  });

  const pathOf = (name = "common", { id } = website): string => `/websites/${id}/lexicons/${name}`;
  const set = async (lexicon: object = common, name?: string): Promise<Record<string, unknown>> => {
    const { status, body } = await admin(service.url, "PUT", pathOf(name), lexicon);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body;
  };
  const setXml = (xml: string, type = "application/pls+xml") =>
    ask(`${service.url}/admin${pathOf()}`, {
      method: "PUT",
      headers: { Authorization: `Bearer ${adminToken}`, "Content-Type": type },
      body: xml,
    });
  const urlOf = (query: Record<string, string>): string =>
    `${service.url}/v2/text/synthesize?${new URLSearchParams({ lang: "en-GB", ...query })}`;
  const speak = async (text: string, by = website, query: Record<string, string> = {}) => {
    const response = await fetch(urlOf({ text, ...query }), { headers: authorize(by) });
    const bytes = Buffer.from(await response.arrayBuffer());
    const { status, headers } = response;
    return { status, headers, bytes, etag: headers.get("etag"), cache: headers.get("cache-control") };
  };

  describe("in the admin API", () => {
    it("are set with JSON or PLS, shown, listed by name and removed", async () => {
      const summary = await set();
      expect(summary).to.include({ name: "common", version: 1, lang: "en", ruleCount: 2 });
      expect((await admin(service.url, "GET", pathOf())).body).to.deep.equal({ ...summary, ...common });
      const fromXml = await setXml(pls);
      expect([fromXml.status, JSON.parse(fromXml.text).version]).to.deep.equal([200, 2]);
      await set({ rules: [{ grapheme: "a", alias: "b" }] }, "another");
      const { body } = await admin(service.url, "GET", `/websites/${website.id}/lexicons`);
      const listed = body.lexicons as Record<string, unknown>[];
      expect(listed.map(({ name, version }) => [name, version])).to.deep.equal([
        ["another", 3],
        ["common", 2],
      ]);
      expect((await admin(service.url, "DELETE", pathOf())).status).to.equal(204);
      expect((await admin(service.url, "DELETE", pathOf())).status).to.equal(404);
      expect((await admin(service.url, "GET", pathOf())).status).to.equal(404);
    });

    it("are read from PLS of every type of XML, with a charset", async () => {
      for (const type of ["application/pls+xml", "application/xml", "text/xml"])
        for (const charset of ["", "; charset=utf-8", '; charset="UTF-8"']) {
          const { status, text } = await setXml(pls, `${type}${charset}`);
          expect(status, `${type}${charset}: ${text}`).to.equal(200);
        }
    });

    it("keep their version if nothing changes", async () => {
      expect(await set()).to.deep.equal(await set());
    });

    it("are refused with the path of each error", async () => {
      const refused = await admin(service.url, "PUT", pathOf(), { rules: [{ grapheme: "a" }], more: 1 });
      const details = JSON.stringify(refused.body);
      expect([refused.status, details.includes("rules"), details.includes("more")]).to.deep.equal([
        400,
        true,
        true,
      ]);
      for (const [xml, message] of [
        ["<!DOCTYPE x []><lexicon/>", "DOCTYPE"],
        ["<lexicon", "well-formed"],
        [
          pls.replace("</lexicon>", "<lexeme><grapheme>x</grapheme></lexeme></lexicon>"),
          "alias or a phoneme",
        ],
      ] as const) {
        const { status, text } = await setXml(xml);
        expect([status, text.includes(message)], text).to.deep.equal([400, true]);
      }
      expect((await setXml(`${pls}${" ".repeat(1_100_000)}`)).status).to.equal(413);
      expect((await setXml(pls, "text/html")).status).to.equal(400);
      expect((await admin(service.url, "PUT", pathOf("a b"), common)).status).to.equal(400);
      expect((await admin(service.url, "PUT", "/websites/none/lexicons/common", common)).status).to.equal(
        404,
      );
    });
  });

  describe("in a synthesis", () => {
    it("give exactly the audio of the replaced text, under a hash of its own", async () => {
      await set();
      const aliased = await speak("The W3C met.");
      const written = await speak("The World Wide Web Consortium met.", other);
      const asSent = await speak("The W3C met.", other);
      expect(aliased.status).to.equal(200);
      expect(aliased.bytes.equals(written.bytes)).to.equal(true);
      expect(asSent.bytes.equals(written.bytes)).to.equal(false);
      expect(new Set([aliased.etag, written.etag, asSent.etag]).size).to.equal(3);
    });

    it("apply over OpenAI's API too", async () => {
      await set();
      const speech = async ({ apiKey, apiSecret }: Credentials, input: string) => {
        const response = await fetch(`${service.url}/openai/v1/audio/speech`, {
          method: "POST",
          headers: { Authorization: `Bearer ${apiKey}.${apiSecret}`, "Content-Type": "application/json" },
          body: JSON.stringify({ model: "tts-1", voice: "UK English Female", input }),
        });
        expect(response.status).to.equal(200);
        return Buffer.from(await response.arrayBuffer());
      };
      const aliased = await speech(website, "Over W3C.");
      expect(aliased.equals(await speech(other, "Over World Wide Web Consortium."))).to.equal(true);
    });

    it("are chosen by name and version over ElevenLabs' API; without a choice all apply", async () => {
      await set({ rules: [{ grapheme: "W3C", alias: "first" }] }, "one");
      await set({ rules: [{ grapheme: "W3C", alias: "second" }] }, "two");
      const speech = async (
        input: string,
        locators?: object[],
        { apiKey, apiSecret } = website,
        headers: Record<string, string> = {},
      ) => {
        const response = await fetch(`${service.url}/elevenlabs/v1/text-to-speech/g1-en-GB-female`, {
          method: "POST",
          headers: {
            "xi-api-key": `${apiKey}.${apiSecret}`,
            "Content-Type": "application/json",
            ...headers,
          },
          body: JSON.stringify({ text: input, pronunciation_dictionary_locators: locators }),
        });
        return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) };
      };
      const locate = (name: string, version_id?: string) => ({
        pronunciation_dictionary_id: name,
        version_id,
      });
      const written = async (input: string) => (await speech(input, undefined, other)).bytes;
      const first = await written("A first.");
      const second = await written("A second.");
      expect((await speech("A W3C.")).bytes.equals(first)).to.equal(true);
      expect((await speech("A W3C.", [])).bytes.equals(first)).to.equal(true);
      expect((await speech("A W3C.", [locate("two", "2")])).bytes.equals(second)).to.equal(true);
      expect((await speech("A W3C.", [locate("two"), locate("one")])).bytes.equals(second)).to.equal(true);
      for (const unknown of [locate("three"), locate("two", "1")]) {
        const { status, bytes } = await speech("A W3C.", [unknown]);
        expect([status, bytes.toString().includes("lexicon")]).to.deep.equal([400, true]);
      }
      const retried = { "Idempotency-Key": "chosen" };
      expect((await speech("A W3C.", [locate("one")], website, retried)).status).to.equal(200);
      expect((await speech("A W3C.", [locate("one")], website, retried)).status).to.equal(200);
      expect((await speech("A W3C.", [locate("two")], website, retried)).status).to.equal(400);
    });

    it("apply to SSML, except where the document gives the pronunciation", async () => {
      await set();
      const ssml = (content: string) => `<speak>${content}</speak>`;
      const aliased = await speak(ssml('<s>The W3C</s> <sub alias="W3C">it</sub>'));
      const written = await speak(ssml("<s>The World Wide Web Consortium</s> W3C"), other);
      expect(aliased.status).to.equal(200);
      expect(aliased.bytes.equals(written.bytes)).to.equal(true);
    });

    it("do not change the hash, or who may cache it, of a text without a match", async () => {
      await set();
      const [own, shared] = [await speak("No abbreviation."), await speak("No abbreviation.", other)];
      expect([own.etag, own.cache]).to.deep.equal([shared.etag, shared.cache]);
      expect((await speak("Le W3C.", website, { lang: "fr-FR" })).etag).to.equal(
        (await speak("Le W3C.", other, { lang: "fr-FR" })).etag,
      );
    });

    it("make the response private, and its object public under its hash", async () => {
      await set();
      const { cache, headers, bytes } = await speak("The W3C.");
      expect(cache).to.equal("private, max-age=86400");
      const object = await fetch(service.url + headers.get("content-location"));
      expect(Buffer.from(await object.arrayBuffer()).equals(bytes)).to.equal(true);
    });

    it("give a new hash as soon as an applied rule changes, and the old one when it is removed", async () => {
      const before = await speak("The W3C.");
      await set();
      const first = await speak("The W3C.");
      await set({ ...common, rules: [...common.rules, { grapheme: "unused", alias: "x" }] });
      expect((await speak("The W3C.")).etag).to.equal(first.etag);
      await set({ lang: "en", rules: [{ grapheme: "W3C", alias: "the consortium" }] });
      const second = await speak("The W3C.");
      await admin(service.url, "DELETE", pathOf());
      expect((await speak("The W3C.")).etag).to.equal(before.etag);
      expect(new Set([before.etag, first.etag, second.etag]).size).to.equal(3);
    });

    it("charge the characters that were sent", async () => {
      await set();
      await speak("W3C");
      const { body } = await admin(service.url, "GET", `/keys/${website.apiKey}/usage`);
      expect(body.characters).to.equal(3);
    });

    it("refuse a text that aliases would make more than three times as long", async () => {
      await set({ rules: [{ grapheme: "a", alias: "x".repeat(500) }] });
      const { status, bytes } = await speak("a ".repeat(100));
      expect([status, bytes.toString().includes("too long")]).to.deep.equal([400, true]);
      expect((await speak("a a")).status).to.equal(200);
    });

    it("are not hidden by the fast path, which still serves other websites", async () => {
      const url = { text: "The W3C, repeated." };
      for (let i = 0; i < 2; i++) await speak(url.text, other);
      const asSent = await speak(url.text);
      await set();
      lines.length = 0;
      const aliased = await speak(url.text);
      const again = await speak(url.text);
      expect(lines.filter(({ fastPath }) => fastPath)).to.deep.equal([]);
      expect(aliased.etag).to.not.equal(asSent.etag);
      expect(again.etag).to.equal(aliased.etag);
      expect((await speak(url.text, other)).etag).to.equal(asSent.etag);
      expect(lines.filter(({ fastPath }) => fastPath)).to.have.length(1);
    });

    it("leave the places of marks in the text as sent", async () => {
      await set();
      const marksOf = async (text: string) => {
        const { headers } = await speak(text);
        const [, link] = /<([^>]+)>; rel="describedby"/.exec(headers.get("link") ?? "") ?? [];
        const body = await (await fetch(service.url + link)).text();
        return body
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line) as Mark)
          .map((mark) => ({ ...mark, word: wordAt(text, mark) }));
      };
      const places = (marks: Awaited<ReturnType<typeof marksOf>>, type: Mark["type"]) =>
        marks.filter((mark) => mark.type === type).map(({ word, start, end }) => [word, start, end]);
      const plain = await marksOf("The W3C's tomato. Good!");
      expect(places(plain, "word")).to.deep.equal([
        ["The", 0, 3],
        ["W3C's", 4, 9],
        ["tomato", 10, 16],
        ["Good", 18, 22],
      ]);
      expect(places(plain, "sentence")).to.deep.equal([
        ["The W3C's tomato.", 0, 17],
        ["Good!", 18, 23],
      ]);
      const ssml = "<speak>One&amp;two <emphasis>W3C</emphasis> <break/>end</speak>";
      expect(places(await marksOf(ssml), "word")).to.deep.equal([
        ["One", 7, 10],
        ["&amp;", 10, 15],
        ["two", 15, 18],
        ["W3C", 29, 32],
        ["end", 52, 55],
      ]);
    });
  });

  it("reach Azure and Google as phonemes, and OpenAI as aliases", async () => {
    for (const [engine, credentials] of Object.entries(goodCredentials)) {
      await admin(service.url, "PUT", `/websites/${website.id}/credentials/${engine}`, credentials);
    }
    await set();
    const sentTo = async (server: WireProviders["gwn"], voice: string): Promise<string> => {
      const { status, bytes, cache } = await speak("A W3C tomato <3.", website, { voice });
      expect([status, cache], bytes.subarray(0, 300).toString()).to.deep.equal([
        200,
        "private, max-age=86400",
      ]);
      return server.requests.at(-1)?.body.toString() ?? "";
    };
    const spoken =
      'A World Wide Web Consortium <phoneme alphabet="ipa" ph="təˈmɑːtəʊ">tomato</phoneme> &lt;3.';
    expect(await sentTo(providers.msv, "en-US-JennyNeural")).to.include(`>${spoken}<`);
    const google = JSON.parse(await sentTo(providers.gwn, "en-US-Neural2-C"));
    expect(google.input).to.deep.equal({ ssml: `<speak>${spoken}</speak>` });
    const openAi = JSON.parse(await sentTo(providers.oai, "alloy"));
    expect(openAi.input).to.equal("A World Wide Web Consortium tomarto <3.");
  });
});
