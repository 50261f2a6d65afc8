import { expect } from "chai";
import type { Gallery, GalleryVoice } from "../../../src/application/gallery/gallery.ts";
import { licenceOf, voiceEngine } from "../../../src/domain/catalog/voice-engines.ts";
import { galleryOperation } from "../../../src/http/routes/docs/gallery.ts";
import { rootOperation } from "../../../src/http/routes/docs/root.ts";
import { type OperationServer, serveOperations } from "../../support/operation-server.ts";

const voice = (
  names: readonly string[],
  lang: string,
  gender: "f" | "m",
  voiceName = "espeak:gmw/en",
): GalleryVoice => ({
  names,
  isFriendly: true,
  lang,
  gender,
  engine: voiceEngine(voiceName),
  licence: licenceOf(voiceName),
  sentence: "Fish & <chips>.",
  sample: {
    hash: names[0],
    name: `public/${names[0]?.toLowerCase()}.mp3`,
  } as unknown as GalleryVoice["sample"],
});

const voices = [
  voice(["Heart"], "en-US", "f", "hibari:heart"),
  voice(["Anna", "Deutsch <Anna>"], "de-DE", "f"),
  voice(["Otto"], "de-DE", "m"),
  ...Array.from({ length: 30 }, (_, number) => voice([`Number ${number}`], "fr-FR", "m")),
];
const unspoken = new Set(["Otto"]);
const gallery: Gallery = {
  voices: async () => voices,
  isSpoken: ({ sample }) => !unspoken.has(sample.hash),
  hasAudio: () => true,
};

describe("GET /voices", () => {
  let server: OperationServer;
  before(async () => {
    const settings = { publicUrl: undefined };
    server = await serveOperations([galleryOperation({ gallery }), rootOperation({ settings, gallery })]);
  });
  after(() => server.close());

  const get = async (query = "", headers: Record<string, string> = {}) => {
    const response = await fetch(`${server.url}/voices${query}`, { headers });
    return { response, text: await response.text() };
  };
  const namesIn = (text: string): string[] =>
    [...text.matchAll(/<h2>([^<]*)<\/h2>/g)].map(([, name = ""]) => name);

  it("shows a voice with its other names, engine, quality, licence and sample", async () => {
    const { response, text } = await get("?lang=de-DE&gender=f");
    expect(response.headers.get("content-type")).to.equal("text/html; charset=utf-8");
    expect(namesIn(text)).to.deep.equal(["Anna"]);
    expect(text).to.include("Also: Deutsch &lt;Anna&gt;").and.include("Fish &amp; &lt;chips&gt;.");
    expect(text).to.include("espeak-ng · classic quality · licence: GPL-3.0-or-later");
    expect(text).to.include('<audio controls preload="none" src="./audio/anna.mp3"');
  });

  it("plays no sample that has not been spoken", async () => {
    const { text } = await get("?gender=m&lang=de-DE");
    expect(namesIn(text)).to.deep.equal(["Otto"]);
    expect(text).to.include("has not been spoken yet").and.not.include("<audio");
  });

  it("filters by engine, ignores the empty fields of its form, and shows nothing for an unknown language", async () => {
    expect(namesIn((await get("?lang=&gender=&engine=Hibari")).text)).to.deep.equal(["Heart"]);
    const none = await get("?lang=tlh");
    expect(none.response.status).to.equal(200);
    expect(none.text).to.include("0 voices");
  });

  it("divides the voices into pages, with links that keep the filter", async () => {
    const first = await get("?lang=fr-FR");
    expect(namesIn(first.text)).to.have.length(24);
    expect(first.text).to.include('href="./voices?lang=fr-FR&amp;page=2"');
    expect(namesIn((await get("?lang=fr-FR&page=2")).text)).to.have.length(6);
    expect(namesIn((await get("?lang=fr-FR&page=999")).text)).to.have.length(6);
  });

  for (const query of [
    "?page=0",
    "?page=x",
    "?gender=neuter",
    "?lang=de&lang=en",
    `?engine=${"x".repeat(101)}`,
  ]) {
    it(`refuses ${query.slice(0, 20)}`, async () => {
      expect((await get(query)).response.status).to.equal(400);
    });
  }

  it("needs no script, loads nothing of other origins, and responds 304 to a caller that has the page", async () => {
    const { response, text } = await get();
    expect(text).to.not.match(/<script|<style|style=|\son\w+=|https?:/);
    const policy = response.headers.get("content-security-policy");
    expect(policy)
      .to.match(/^default-src 'none'; style-src 'self'; /)
      .and.not.include("unsafe");
    const etag = response.headers.get("etag") ?? "";
    expect((await get("", { "If-None-Match": etag })).response.status).to.equal(304);
    unspoken.delete("Otto");
    expect((await get("", { "If-None-Match": etag })).response.status).to.equal(200);
    unspoken.add("Otto");
  });

  it("is 404 when the gallery is switched off", async () => {
    const off = await serveOperations([galleryOperation({ gallery: undefined })]);
    expect((await fetch(`${off.url}/voices`)).status).to.equal(404);
    await off.close();
  });

  it("is linked from the page at /, whose form lists the voices by their languages", async () => {
    const page = await fetch(server.url, { headers: { Accept: "text/html" } });
    const text = await page.text();
    expect(text).to.include('<a href="voices">');
    expect(text).to.include(
      '<optgroup label="German (Germany)"><option>Anna</option><option>Deutsch &lt;Anna&gt;</option><option>Otto</option></optgroup>',
    );
    const links = await (await fetch(server.url)).json();
    expect(links).to.have.nested.property("_links.voices.href", "voices");
  });
});
