import { expect } from "chai";
import type { Locator } from "playwright-core";
import type { FeatureSite } from "../../support/client-library/feature-page.ts";
import {
  longArticle,
  miniPlayer,
  playButton,
  player,
  playerConfig,
  scrollByHand,
  styleOf,
  type WebPlayer,
} from "./article.ts";
import { type MemberCase, under } from "./case.ts";

type MiniPlayer = NonNullable<WebPlayer["miniPlayer"]>;
const at = "features.webPlayer.miniPlayer.";

const css = "#outside { margin-top: 3000px }";

/** Starts to read an article, and scrolls its player out of view. */
const scrollAway = async (site: FeatureSite, options: MiniPlayer): Promise<Locator> => {
  await site.configure(playerConfig({ miniPlayer: options }));
  const feature = await site.open(longArticle, { css });
  await playButton(await player(feature.page)).click();
  await feature.untilPlaying();
  await scrollByHand(feature.page, "#outside");
  return miniPlayer(feature.page);
};

/** The distance of the mini player to the window's sides. */
const sidesOf = async (mini: Locator): Promise<Record<"top" | "right" | "bottom" | "left", number>> => {
  await mini.waitFor();
  // An animation moves the box, and the style sheet's sides are where it ends.
  const style = async (side: string) => Number.parseFloat(await styleOf(mini, side));
  return {
    top: await style("top"),
    right: await style("right"),
    bottom: await style("bottom"),
    left: await style("left"),
  };
};

const corners: MemberCase[] = (
  [
    ["top-left", "none"],
    ["top-right", "fade"],
    ["bottom-left", "slide"],
    ["bottom-right", "pop"],
  ] as const
).map(([position, animation]) => ({
  members: [`${at}position=${position}`, `${at}animation=${animation}`],
  does: "shows the mini player in this corner, with this animation",
  run: async (site) => {
    const mini = await scrollAway(site, { position, animation });
    const near = Object.entries(await sidesOf(mini)).filter(([, distance]) => distance === 16);
    expect(near.map(([side]) => side)).to.have.members(position.split("-"));
    expect(await styleOf(mini, "animation-name")).to.equal(animation);
    await mini.page().emulateMedia({ reducedMotion: "reduce" });
    expect(await styleOf(mini, "animation-name")).to.equal("none");
  },
}));

const offsets: MemberCase[] = [
  { top: "40px", right: "2rem" },
  { bottom: "5%", left: "7px" },
].map((position) => ({
  members: under(`${at}position.`, ...Object.keys(position)),
  does: "places the mini player at this distance from the window's side",
  run: async (site) => {
    const { top, right, bottom, left } = await sidesOf(await scrollAway(site, { position }));
    if ("top" in position) expect([top, right]).to.deep.equal([40, 32]);
    else expect([bottom, left]).to.deep.equal([720 * 0.05, 7]);
  },
}));

export const miniPlayerCases: readonly MemberCase[] = [
  {
    members: [`${at}enabled`],
    does: "shows a mini player while an article is read whose player is out of view",
    run: async (site) => {
      const mini = await scrollAway(site, {});
      await mini.getByRole("button", { name: "Pause" }).click();
      await mini.getByRole("button", { name: "Resume" }).waitFor();
      await mini.getByRole("button", { name: "Show the player" }).click();
      await mini.waitFor({ state: "hidden" });
      const without = await scrollAway(site, { enabled: false });
      expect(await without.count()).to.equal(0);
    },
  },
  {
    members: [`${at}zIndex`],
    does: "puts the mini player above or below elements of the page",
    run: async (site) => {
      expect(await styleOf(await scrollAway(site, {}), "z-index")).to.equal("2147483000");
      expect(await styleOf(await scrollAway(site, { zIndex: 40 }), "z-index")).to.equal("40");
    },
  },
  ...corners,
  ...offsets,
];
