import { expect } from "chai";
import type { StoredConfig } from "../../../src/domain/accounts/website-config.ts";
import { longArticle, miniPlayer, playButton, player, playerConfig, scrollByHand } from "./article.ts";
import { type MemberCase, under } from "./case.ts";

/** Each label as its own name, for pages in Welsh, in which the player has no labels. */
const names = [
  ...["article", "listen", "pause", "resume", "tryAgain", "previous", "next", "position", "paragraph"],
  ...["time", "speed", "download", "copyLink", "linkCopied", "poweredBy", "waiting", "failed"],
  ...["unavailable", "miniPlayer", "show", "close", "allowSpeech"],
];
const labels = Object.fromEntries(names.map((name) => [name, `${name} (cy)`]));

export const labelCases: readonly MemberCase[] = [
  {
    members: under("features.webPlayer.labels.*.", ...names),
    does: "replace the labels of pages in a language",
    run: async (site) => {
      const config = playerConfig({ labels: { cy: labels } });
      await site.configure(config);
      const feature = await site.open(longArticle, {
        attributes: 'lang="cy-GB"',
        css: "#outside { margin-top: 3000px }",
      });
      const shown = await player(feature.page);
      const named = (role: "button" | "slider" | "combobox" | "link" | "timer" | "region", name: string) =>
        shown.getByRole(role, { name: labels[name] ?? "", exact: true }).waitFor();
      await named("region", "article");
      await named("button", "listen");
      await named("slider", "position");
      await named("timer", "time");
      await named("combobox", "speed");
      await named("link", "poweredBy");
      await named("button", "copyLink");
      await named("button", "download");
      await shown.locator(`[aria-valuetext="${labels.paragraph}"]`).waitFor();
      expect(await shown.getAttribute("lang")).to.equal("cy");
      await playButton(shown).click();
      await named("button", "pause");
      await feature.untilPlaying();
      await scrollByHand(feature.page, "#outside");
      const mini = miniPlayer(feature.page);
      await mini.getByRole("region", { name: labels.miniPlayer ?? "" }).waitFor();
      for (const name of ["previous", "next", "show", "close"])
        await mini.getByRole("button", { name: labels[name] ?? "", exact: true }).waitFor();
      await mini.getByRole("button", { name: labels.pause ?? "" }).click();
      await named("button", "resume");
      await site.configure(playerConfig({ labels: { cy: labels }, voice: "A voice that does not exist" }));
      const failing = await site.open(longArticle, { attributes: 'lang="cy"' });
      const failed = await player(failing.page);
      await playButton(failed).click();
      await failed
        .getByRole("status")
        .filter({ hasText: labels.failed ?? "" })
        .waitFor();
      await failed.getByRole("button", { name: labels.tryAgain ?? "" }).waitFor();
      const held = await site.open(longArticle, {
        attributes: 'lang="cy"',
        prepare: (page) => page.route("**/v2/text/synthesize*", () => undefined),
      });
      await playButton(await player(held.page)).click();
      await (await player(held.page))
        .getByRole("status")
        .filter({ hasText: labels.waiting ?? "" })
        .waitFor();
      const welcome: StoredConfig = {
        features: { ...config.features, welcomeMessage: { enabled: true, text: "Welcome." } },
      };
      await site.configure(welcome);
      const blocked = await site.open(longArticle, { attributes: 'lang="cy"' });
      await blocked.page.getByRole("button", { name: labels.allowSpeech ?? "", exact: true }).waitFor();
    },
  },
];
