import { expect } from "chai";
import type { StoredConfig } from "../../../src/domain/accounts/website-config.ts";
import { tenTimesASecond } from "../../support/browser.ts";
import {
  type FeaturePage,
  type FeatureWindow,
  openFeatureSite,
  type Spoken,
} from "../../support/client-library/feature-page.ts";
import { duringSuite } from "../../support/during.ts";
import { playButton, player, playerConfig } from "./article.ts";

interface PageWindow extends FeatureWindow {
  durations: number[];
  words?: string[];
}
declare const window: PageWindow;
declare const document: { querySelector(selector: string): object };
declare const getSelection: () => { setBaseAndExtent(...range: unknown[]): void };
declare const PointerEvent: new (kind: string) => object;
declare const CSS: { readonly highlights: Map<string, Iterable<object>> };

const voice = "UK English Female";
const english = "The harbour was quiet this morning, and the boats had not left with the tide.";
const arabic = "غادر القطار المدينة في المساء ووصل إلى البحر في الصباح.";
const hebrew = "הרכבת עזבה את העיר בערב והגיעה אל הים בבוקר.";
const french = "Le train a quitté la ville dans la soirée et il est arrivé à la mer.";
const german = "Der Zug hat die Stadt am Abend verlassen und das Meer am Morgen erreicht.";
const chinese = "火车晚上离开城市，早上到达海边。";

/** The voice that was requested, or else the language. */
const voiceOf = ({ voice, lang }: Spoken): string => voice ?? `lang ${lang}`;

const paragraph = (text: string, lang?: string): string =>
  `<p${lang === undefined ? "" : ` lang="${lang}"`}>${text}</p>`;
const article = (...paragraphs: readonly string[]): string =>
  `<main><article>${paragraphs.join("")}</article></main>`;

describe("the languages of a page", () => {
  const site = duringSuite(openFeatureSite);
  afterEach(() => site.closePages());

  const open = async (
    body: string,
    config: StoredConfig,
    options: { attributes?: string; head?: string } = {},
  ): Promise<FeaturePage> => {
    await site.configure(config);
    return await site.open(body, options);
  };
  const listen = async (
    body: string,
    {
      config = playerConfig({ voice }),
      ...options
    }: { config?: StoredConfig; attributes?: string; head?: string } = {},
  ): Promise<FeaturePage> => {
    const feature = await open(body, config, options);
    await playButton(await player(feature.page)).click();
    return feature;
  };
  const tag = (attributes: string): string =>
    `<script type="module" src="${site.service.url}/player.js" data-api-key="${site.website.apiKey}" ${attributes}></script>`;

  it("are each read by a voice of theirs, and the configured voice's own by itself", async () => {
    const body = article(
      paragraph(english),
      paragraph(arabic, "ar"),
      paragraph(hebrew, "he"),
      paragraph(french, "fr-CA"),
      paragraph(german, "de"),
      paragraph(chinese, "zh"),
      paragraph(`${english} Again.`, "en-US"),
    );
    const feature = await open(body, playerConfig({ voice }));
    await feature.page.evaluate(() => {
      const [audio] = window.audios;
      window.durations = [];
      audio?.addEventListener("ended", () => window.durations.push(audio.duration));
    });
    await playButton(await player(feature.page)).click();
    await feature.untilEnded(7);
    expect(feature.spoken().map(voiceOf)).to.deep.equal([
      ...[voice, "lang ar", "lang he", "lang fr-CA", "lang de", "lang zh", voice],
    ]);
    // An English voice spells Arabic letters out, for 25 s.
    const durations = await feature.page.evaluate(() => window.durations.slice(0, 7));
    expect(
      durations.filter((seconds) => seconds > 2 && seconds < 9),
      String(durations),
    ).to.have.length(7);
  });

  it("are those of a page that is read from right to left, with the website's voice", async () => {
    const feature = await listen(article(paragraph(arabic), paragraph(english, "en")), {
      config: playerConfig({}, { name: "Arabic Female" }),
      attributes: 'lang="ar" dir="rtl"',
    });
    await feature.untilSpoken(english);
    expect(feature.spoken().map(voiceOf)).to.deep.equal(["Arabic Female", "lang en"]);
  });

  it("are decided by script and words if the page declares a language that they are not in", async () => {
    const body = article(
      "<h2>Die Ankunft</h2>",
      paragraph(german),
      paragraph(arabic),
      paragraph(german.repeat(2)),
      paragraph(english),
      paragraph(chinese, "de"),
    );
    const feature = await listen(body);
    await feature.untilSpoken(chinese);
    expect(feature.spoken().map(voiceOf)).to.deep.equal([
      ...["lang de", "lang de", "lang ar", "lang de", voice, "lang zh-CN"],
    ]);
  });

  it("cost an English page no rules of other languages, and no request for the language of its voice", async () => {
    const requested: string[] = [];
    await site.configure(playerConfig());
    const feature = await site.open(article("<h2>The harbour</h2>", paragraph(english)), {
      prepare: async (page) =>
        page.on("request", (request) => requested.push(new URL(request.url()).pathname)),
    });
    await playButton(await player(feature.page)).click();
    await feature.untilSpoken(english);
    expect(requested).to.include("/client.js").and.not.include("/client-languages.js");
    expect(requested.filter((path) => path.startsWith("/v2/voices"))).to.deep.equal([]);
  });

  it("are marked for the voice within a paragraph, whose words stay where they are", async () => {
    const body = article(
      `<p>They say <i lang="fr">au revoir &amp; merci</i> there, and <b lang="en-US">leave</b>.</p>`,
      paragraph(`<span lang="fr">${french}</span>`),
    );
    const feature = await listen(body);
    await feature.untilSpoken(french);
    expect(feature.texts()).to.deep.equal([
      '<speak>They say <lang xml:lang="fr">au revoir &amp; merci</lang> there, and leave.</speak>',
      french,
    ]);
    expect(feature.spoken().map(voiceOf)).to.deep.equal([voice, "lang fr"]);
    const words = await feature.page.waitForFunction(
      () => {
        const range = [...(CSS.highlights.get("voxledger-word") ?? [])].join();
        window.words ??= [];
        if (range !== "" && window.words.at(-1) !== range) window.words.push(range);
        return window.words.includes("leave") && window.words;
      },
      undefined,
      { polling: 20 },
    );
    expect(await words.jsonValue()).to.include.members(["say", "there", "leave"]);
  });

  it("decide who reads a selection, a link, a paragraph and a message", async () => {
    const body = `${article(paragraph(english), `<div lang="ar">${paragraph(arabic)}</div>`)}
      <nav><a href="#ar" lang="ar">القطار إلى البحر</a></nav>`;
    const features = {
      speakSelectedText: { enabled: true },
      speakLinks: { enabled: true },
      paragraphNavigation: { enabled: true },
      exitIntent: { enabled: true, text: german },
    };
    const feature = await open(body, { features });
    await feature.page.locator("article").click({ position: { x: 1, y: 1 } });
    await feature.page.keyboard.press("Alt+ArrowDown");
    await feature.untilSpoken(english);
    await feature.page.keyboard.press("Alt+ArrowDown");
    expect(voiceOf(await feature.untilSpoken(arabic))).to.equal("lang ar");
    const before = feature.spoken().length;
    await feature.page.evaluate(() => {
      const [first, second] = [document.querySelector("article p"), document.querySelector("[lang=ar] p")];
      getSelection().setBaseAndExtent(first, 0, second, 1);
      (document as unknown as { dispatchEvent(event: object): void }).dispatchEvent(
        new PointerEvent("pointerup"),
      );
    });
    await feature.page.waitForFunction(
      () => window.audios.some(({ paused }) => !paused),
      undefined,
      tenTimesASecond,
    );
    await feature.untilSpoken(english);
    while (feature.spoken().length < before + 2) await feature.page.waitForRequest(/synthesize/);
    expect(feature.spoken().slice(-2).map(voiceOf)).to.deep.equal([voice, "lang ar"]);
    await feature.page.keyboard.press("Escape");
    await feature.page.locator("a").hover();
    expect(voiceOf(await feature.untilSpoken("القطار إلى البحر"))).to.equal("lang ar");
    await feature.page.keyboard.press("Escape");
    await feature.page.locator("html").dispatchEvent("mouseleave", { clientX: 100, clientY: -1 });
    expect(voiceOf(await feature.untilSpoken(german))).to.equal("lang de");
  });

  it("have the tag's default where the page declares none, beside the player's voice", async () => {
    const body = article(paragraph(arabic), paragraph(english, "en"));
    const options = { attributes: "", head: tag('data-default-lang="fr"') };
    const feature = await listen(article(paragraph("Bienvenue."), paragraph(english, "en")), options);
    await feature.untilSpoken(english);
    expect(feature.spoken().map(voiceOf)).to.deep.equal(["lang fr", voice]);
    const other = await listen(body, { attributes: "", head: tag('data-default-voice="US English Male"') });
    await other.untilSpoken(english);
    expect(other.spoken().map(voiceOf)).to.deep.equal(["lang ar", voice]);
  });

  it("that the service does not have are read by the configured voice", async () => {
    const feature = await listen(article(paragraph("Qapla' batlh je.", "qaa"), paragraph(english)));
    await feature.untilSpoken(english);
    expect(feature.spoken().map(voiceOf)).to.deep.equal(["lang qaa", voice, voice]);
    await feature.untilEnded(1);
  });
});
