import { expect } from "chai";
import type { FeaturePage, FeatureSite } from "../../support/client-library/feature-page.ts";
import {
  article,
  first,
  heading,
  longArticle,
  playButton,
  player,
  playerConfig,
  players,
  styleOf,
  type WebPlayer,
} from "./article.ts";
import { type MemberCase, under } from "./case.ts";

const at = "features.webPlayer.";

declare const CSS: { readonly highlights: ReadonlyMap<string, Iterable<object>> };

/** Opens the article with this player. */
const open = async (site: FeatureSite, webPlayer: WebPlayer, body = article): Promise<FeaturePage> => {
  await site.configure(playerConfig(webPlayer));
  return await site.open(body);
};

/** The first text that the player speaks. */
const firstSpoken = async (feature: FeaturePage): Promise<string | undefined> => {
  await playButton(await player(feature.page)).click();
  await feature.untilSpoken(/./);
  return feature.texts()[0];
};

interface PlacedElement {
  readonly id: string;
  readonly localName: string;
  readonly nextElementSibling: PlacedElement | null;
  readonly previousElementSibling: PlacedElement | null;
  readonly parentElement: PlacedElement | null;
}

/** Where the player is: the elements before and after it, and around it. */
const placeOf = async ({ page }: FeaturePage): Promise<(string | undefined)[]> =>
  (await player(page)).evaluate((host) => {
    const { previousElementSibling, nextElementSibling, parentElement } = host as unknown as PlacedElement;
    return [previousElementSibling, nextElementSibling, parentElement].map(
      (element) => element?.id || element?.localName,
    );
  });

const placement: MemberCase[] = (
  [
    ["=before", "before", ["header", "article", "main"]],
    ["=after", "after", ["article", "outside", "main"]],
    ["=inline", "inline", [undefined, "h2", "article"]],
  ] as const
).map(([member, position, expected]) => ({
  members: [`${at}position${member}`],
  does: `places the player ${position}`,
  run: async (site) => {
    const body = article.replace("<main>", "<main><header>Night trains</header>");
    expect(await placeOf(await open(site, { position }, body))).to.deep.equal(expected);
  },
}));

const targets: MemberCase[] = (
  [
    ["inside", [undefined, undefined, "place"]],
    ["before", [undefined, "place", "aside"]],
    ["after", ["place", undefined, "aside"]],
  ] as const
).map(([where, expected]) => ({
  members: [`${at}position.target`, `${at}position.at=${where}`],
  does: `places the player ${where} the target`,
  run: async (site) => {
    const position = { target: "#place", at: where };
    const body = `${article}<aside><div id="place"></div></aside>`;
    expect(await placeOf(await open(site, { position }, body))).to.deep.equal(expected);
  },
}));

const rgb = (index: number): string => `rgb(${index}, ${100 + index}, ${200 - index})`;

const themes: MemberCase[] = [
  {
    members: [`${at}theme=neutral`, `${at}theme=brand`],
    does: "colours the player",
    run: async (site) => {
      const backgroundOf = async (theme: "neutral" | "brand") => {
        const { page } = await open(site, { theme });
        return await styleOf((await player(page)).locator("section"), "background-color");
      };
      expect(await backgroundOf("neutral")).to.equal("rgb(255, 255, 255)");
      expect(await backgroundOf("brand")).to.equal("rgb(247, 244, 255)");
    },
  },
  {
    members: under(
      `${at}theme.`,
      ...["bg", "fg", "muted", "accent", "accentSoft", "hover", "border", "track", "fill"],
    ),
    does: "colours the parts of the player",
    run: async (site) => {
      const [bg, fg, muted, accent, accentSoft] = [1, 2, 3, 4, 5].map(rgb);
      const [hover, border, track, fill] = [6, 7, 8, 9].map(rgb);
      const tokens = { bg, fg, muted, accent, accentSoft, hover, border, track, fill };
      const feature = await open(site, { theme: tokens as Record<string, string> }, longArticle);
      const shown = await player(feature.page);
      const section = shown.locator("section");
      expect(await styleOf(section, "background-color")).to.equal(bg);
      expect(await styleOf(section, "color")).to.equal(fg);
      expect(await styleOf(section, "border-top-color")).to.equal(border);
      expect(await styleOf(shown.locator(".time"), "color")).to.equal(muted);
      expect(await styleOf(playButton(shown), "background-color")).to.equal(accent);
      const next = shown.getByRole("button", { name: "Next paragraph" });
      await next.hover();
      expect(await styleOf(next, "background-color")).to.equal(hover);
      expect(await styleOf(shown, "--track")).to.equal(track);
      expect(await styleOf(shown, "--fill")).to.equal(fill);
      await playButton(shown).click();
      const marked = feature.page.locator("[data-voxledger-speaking]");
      await marked.waitFor();
      expect(await styleOf(marked, "background-color")).to.equal(accentSoft);
    },
  },
];

const controls = [
  ["progress", { progress: false }, "input[type=range]"],
  ["time", { time: false }, ".time"],
  ["skip", { skip: false }, "button[aria-label$=paragraph]"],
  ["speed", { speed: false }, "select"],
  ["link", { link: false }, "button[aria-label^=Copy]"],
  ["download", { download: false }, "button[aria-label=Download]"],
  ["brand.icon", { brand: { icon: false } }, "svg.brand"],
  ["brand.poweredBy", { brand: { poweredBy: false } }, "a"],
] as const;

const eachControl: MemberCase = {
  members: under(`${at}controls.`, ...controls.map(([member]) => member)),
  does: "are shown unless they are switched off",
  run: async (site) => {
    const all = await player((await open(site, {})).page);
    for (const [member, , selector] of controls)
      expect(await all.locator(selector).count(), member).to.be.above(0);
    for (const [member, without, selector] of controls) {
      const fewer = await player((await open(site, { controls: without })).page);
      expect(await fewer.locator(selector).count(), member).to.equal(0);
    }
  },
};

const texts: MemberCase[] = [
  {
    members: [`${at}enabled`],
    does: "adds a player, and loads no code for it otherwise",
    run: async (site) => {
      const enabled = await open(site, {});
      expect(await players(enabled.page).count()).to.equal(1);
      await site.configure({ features: { welcomeMessageOnce: true } });
      const loaded: string[] = [];
      const disabled = await site.open(article, {
        prepare: async (page) => {
          page.on("request", (request) => loaded.push(new URL(request.url()).pathname));
        },
      });
      expect(loaded).to.include("/v2/config").and.not.include("/player-features.js");
      expect(await players(disabled.page).count()).to.equal(0);
    },
  },
  {
    members: [`${at}selector`],
    does: "names the elements that get a player",
    run: async (site) => {
      const story = (text: string) => `<section class="story"><p>${text}</p></section>`;
      const body = `${article}${story("Story one.")}${story("Story two.")}`;
      const feature = await open(site, { selector: ".story" }, body);
      expect(await players(feature.page).count()).to.equal(2);
      expect(await firstSpoken(feature)).to.equal("Story one.");
    },
  },
  {
    members: [`${at}paragraphSelector`],
    does: "names the elements that are spoken",
    run: async (site) => {
      expect(await firstSpoken(await open(site, { paragraphSelector: "p" }))).to.equal(first);
    },
  },
  {
    members: [`${at}sanitize.enabled`],
    does: "leaves out what is hidden or no text",
    run: async (site) => {
      const body = `<article><p>Heard. <button>Share</button><span hidden>Hidden.</span><sup aria-hidden="true">1</sup></p></article>`;
      expect(await firstSpoken(await open(site, {}, body))).to.equal("Heard.");
      const all = await open(site, { sanitize: { enabled: false } }, body);
      expect(await firstSpoken(all)).to.equal("Heard. Share Hidden. 1");
    },
  },
  {
    members: [`${at}sanitize.exclude`],
    does: "leaves out elements, and ignores a selector that the browser does not know",
    run: async (site) => {
      const body = `<article><p class="advert">Buy this.</p><p>Heard<sup class="note">2</sup>.</p></article>`;
      const sanitize = { exclude: [".advert", ":::", ".note"] };
      expect(await firstSpoken(await open(site, { sanitize }, body))).to.equal("Heard.");
    },
  },
];

const navigation: MemberCase[] = [
  {
    members: [`${at}navigation.paragraphHighlight`],
    does: "marks the paragraph and the word that are spoken",
    run: async (site) => {
      const marked = await open(site, {}, longArticle);
      await playButton(await player(marked.page)).click();
      await marked.page.waitForFunction(() =>
        [...(CSS.highlights.get("voxledger-word") ?? [])].some((range) => /^\w+$/.test(String(range))),
      );
      await marked.page.locator("h2[data-voxledger-speaking]").waitFor();
      await (await player(marked.page)).getByRole("button", { name: "Next paragraph" }).click();
      await marked.page.locator("p[data-voxledger-speaking]").waitFor();
      const unmarked = await open(site, { navigation: { paragraphHighlight: false } });
      await playButton(await player(unmarked.page)).click();
      await unmarked.untilEnded();
      expect(await unmarked.page.locator("[data-voxledger-speaking]").count()).to.equal(0);
      expect(await unmarked.page.evaluate(() => CSS.highlights.size)).to.equal(0);
    },
  },
  {
    members: [`${at}navigation.paragraphClick`],
    does: "reads from the paragraph that is clicked, once the article was read",
    run: async (site) => {
      const speaking = (feature: FeaturePage, selector: string) =>
        feature.page.locator(`${selector}[data-voxledger-speaking]`).waitFor();
      const clicked = await open(site, {}, longArticle);
      const listen = playButton(await player(clicked.page));
      const [before, after] = [clicked.page.locator("p").nth(1), clicked.page.locator("article p").nth(1)];
      await before.click();
      expect(await styleOf(before, "cursor")).to.equal("auto");
      await listen.click(); // what the first click had requested would precede it
      await speaking(clicked, "h2");
      expect(clicked.texts()[0]).to.match(new RegExp(`^${heading}`));
      expect(await styleOf(after, "cursor")).to.equal("pointer");
      await after.click();
      await speaking(clicked, "p:last-child");
      const other = longArticle.replace("<h2>", "<h2>Another: "); // its place is not remembered
      const ignored = await open(site, { navigation: { paragraphClick: false } }, other);
      await playButton(await player(ignored.page)).click();
      await speaking(ignored, "h2");
      await ignored.page.locator("article p").nth(1).click();
      expect(await styleOf(ignored.page.locator("article p").nth(1), "cursor")).to.equal("auto");
      await (await player(ignored.page)).getByRole("button", { name: "Next paragraph" }).click();
      await speaking(ignored, "h2 + p"); // the paragraph after the heading: the click changed nothing
    },
  },
];

const layouts: MemberCase[] = [
  {
    members: [`${at}layout.mode=shrink`, `${at}layout.mode=fill`],
    does: "makes the player as wide as its controls, or as the page",
    run: async (site) => {
      const widths = async (mode: "shrink" | "fill") => {
        const { page } = await open(site, { layout: { mode } });
        const section = await (await player(page)).locator("section").boundingBox();
        const main = await page.locator("main").boundingBox();
        return (section?.width ?? 0) / (main?.width ?? 1);
      };
      expect(await widths("shrink")).to.be.below(0.8);
      expect(await widths("fill")).to.be.closeTo(1, 0.01);
    },
  },
  {
    members: [`${at}layout.display=inline`, `${at}layout.display=block`],
    does: "puts the player into a line, or on lines of its own",
    run: async (site) => {
      const displayOf = async (display: "inline" | "block") =>
        await styleOf(await player((await open(site, { layout: { display } })).page), "display");
      expect(await displayOf("inline")).to.equal("inline-block");
      expect(await displayOf("block")).to.equal("block");
    },
  },
];

export const playerCases: readonly MemberCase[] = [
  ...texts,
  ...placement,
  ...targets,
  ...themes,
  eachControl,
  ...navigation,
  ...layouts,
];
