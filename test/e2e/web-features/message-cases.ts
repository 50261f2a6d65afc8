import { expect } from "chai";
import type { StoredConfig } from "../../../src/domain/accounts/website-config.ts";
import type { FeaturePage, FeatureSite } from "../../support/client-library/feature-page.ts";
import { article, first, heading, longArticle, second } from "./article.ts";
import { type MemberCase, under } from "./case.ts";

declare const localStorage: { getItem(name: string): string | null };
declare const scrollY: number;

type Features = NonNullable<StoredConfig["features"]>;

const text = "A message of this website.";
const members = (feature: keyof Features): string[] => under(`features.${feature}.`, "enabled", "text");

const open = async (
  site: FeatureSite,
  features: Features,
  options: Parameters<FeatureSite["open"]>[1] & { readonly body?: string } = {},
): Promise<FeaturePage> => {
  await site.configure({ features });
  return await site.open(options.body ?? article, options);
};

/** A user's first action, after which the page may play audio. */
const clickPage = ({ page }: FeaturePage): Promise<void> => page.locator("h1").click();

const links = `<h1>Links</h1><p>See the <a href="#timetable">time<b>table</b></a> or <a href="#"><img alt="Home" src="data:,"></a>.</p>`;
const form = `<h1>Form</h1><a href="#a">Timetable</a>
<label><input type="checkbox" checked> Return ticket</label>
<label for="name">Your name</label><input id="name" value="Ada" required>
<button aria-expanded="false">More</button>`;
const tall = { css: "#outside { margin-top: 3000px }" };

export const messageCases: readonly MemberCase[] = [
  {
    members: members("welcomeMessage"),
    does: "is spoken when the page is opened, after the user has allowed it",
    run: async (site) => {
      const { page, untilSpoken, untilEnded } = await open(site, { welcomeMessage: { enabled: true, text } });
      await untilSpoken(text);
      await page.getByRole("button", { name: "Allow speech" }).click();
      await untilEnded();
      const without = await open(site, { welcomeMessage: { enabled: true, text: null } });
      expect(without.texts()).to.deep.equal([]);
    },
  },
  {
    members: ["features.welcomeMessageOnce"],
    does: "speaks the welcome message only at the first visit",
    run: async (site) => {
      const features = { welcomeMessage: { enabled: true, text }, welcomeMessageOnce: true };
      const firstVisit = await open(site, features);
      await firstVisit.page.getByRole("button", { name: "Allow speech" }).click();
      await firstVisit.page.waitForFunction(() => localStorage.getItem("voxledger-welcomed") !== null);
      expect((await open(site, features)).texts()).to.deep.equal([]);
      expect((await open(site, { ...features, welcomeMessageOnce: false })).texts()).to.deep.equal([text]);
    },
  },
  {
    members: ["features.speakSelectedText.enabled"],
    does: "speaks what the user selects",
    run: async (site) => {
      const feature = await open(site, { speakSelectedText: { enabled: true } });
      await feature.page.getByText(first).click({ clickCount: 3 });
      await feature.untilSpoken(first);
      await feature.page.locator("h2").dblclick({ position: { x: 5, y: 10 } });
      await feature.untilSpoken("The");
    },
  },
  {
    members: ["features.speakLinks.enabled"],
    does: "speaks the link under the pointer or with the focus",
    run: async (site) => {
      const feature = await open(site, { speakLinks: { enabled: true } }, { body: links });
      await feature.page.locator("a").first().hover();
      await clickPage(feature); // until then, the browser allows no audio
      await feature.page.locator("a").first().hover();
      await feature.untilSpoken("timetable");
      await feature.page.keyboard.press("Tab");
      await feature.page.keyboard.press("Tab");
      await feature.untilSpoken("Home");
      expect(feature.texts().filter((spoken) => spoken === "Home")).to.have.length(1);
    },
  },
  {
    members: members("speakInactivity"),
    does: "is spoken once after a minute without any input",
    run: async (site) => {
      const speakInactivity = { enabled: true, text };
      const prepare = (page: FeaturePage["page"]) => page.clock.install();
      const feature = await open(site, { speakInactivity }, { prepare });
      await feature.page.clock.fastForward(50_000);
      await clickPage(feature);
      await feature.page.clock.fastForward(50_000);
      expect(feature.texts()).to.deep.equal([]);
      await feature.page.clock.fastForward(11_000);
      await feature.untilSpoken(text);
    },
  },
  {
    members: members("speakEndPage"),
    does: "is spoken once when the user has scrolled to the end",
    run: async (site) => {
      const feature = await open(site, { speakEndPage: { enabled: true, text } }, tall);
      await feature.page.mouse.wheel(0, 500);
      await feature.page.waitForFunction(() => scrollY > 0);
      expect(feature.texts()).to.deep.equal([]);
      await feature.page.mouse.wheel(0, 10_000);
      await feature.untilSpoken(text);
    },
  },
  {
    members: members("exitIntent"),
    does: "is spoken once when the pointer leaves the page at the top",
    run: async (site) => {
      const feature = await open(site, { exitIntent: { enabled: true, text } });
      const leave = (clientY: number) =>
        feature.page.locator("html").dispatchEvent("mouseleave", { clientX: 100, clientY });
      await leave(300); // at a side
      expect(feature.texts()).to.deep.equal([]);
      await leave(-1);
      await feature.untilSpoken(text);
      await leave(-1);
      expect(feature.texts()).to.deep.equal([text]);
    },
  },
  {
    members: ["features.accessibilityNavigation.enabled"],
    does: "speaks name, role and state of what has the focus, never what the user has entered",
    run: async (site) => {
      const accessibilityNavigation = { enabled: true };
      const feature = await open(site, { accessibilityNavigation }, { body: form });
      for (const described of [
        "Timetable, link",
        "Return ticket, checkbox, checked",
        "Your name, text field, required",
        "More, button, collapsed",
      ]) {
        await feature.page.keyboard.press("Tab");
        await feature.untilSpoken(described);
      }
      expect(feature.texts().join()).to.not.include("Ada");
    },
  },
  {
    members: ["features.paragraphNavigation.enabled"],
    does: "speaks the next and the previous paragraph with the keyboard",
    run: async (site) => {
      const options = { body: longArticle };
      const feature = await open(site, { paragraphNavigation: { enabled: true } }, options);
      for (const [key, paragraph] of [
        ["Alt+ArrowDown", heading],
        ["Alt+ArrowDown", first],
        ["Alt+ArrowDown", second],
        ["Alt+ArrowDown", second], // there is no other
        ["Alt+ArrowUp", first],
      ] as const) {
        await feature.page.keyboard.press(key);
        await feature.page.locator("[data-voxledger-speaking]", { hasText: paragraph }).waitFor();
      }
      await feature.page.keyboard.press("Escape");
      await feature.page.locator("[data-voxledger-speaking]").waitFor({ state: "detached" });
    },
  },
];
