import { expect } from "chai";
import type { FeatureSite, Spoken } from "../../support/client-library/feature-page.ts";
import { article, playButton, player, playerConfig, type WebPlayer } from "./article.ts";
import { type MemberCase, under } from "./case.ts";

/** What the player requests first, on a page in this language. */
const requestOf = async (
  site: FeatureSite,
  webPlayer: WebPlayer,
  { lang = "en", ...voice }: Parameters<typeof playerConfig>[1] & { readonly lang?: string | undefined } = {},
): Promise<Spoken> => {
  await site.configure(playerConfig(webPlayer, voice));
  const feature = await site.open(article, { attributes: `lang="${lang}"` });
  await playButton(await player(feature.page)).click();
  return await feature.untilSpoken(/./);
};

const selectors: readonly (readonly [
  members: string[],
  voice: WebPlayer["voice"],
  expected: RegExp,
  lang?: string,
])[] = [
  [[""], "French Female", /^French Female$/, "fr"],
  [[".regex", ".flags"], { regex: "^us english m", flags: "i" }, /^US English Male$/],
  [[".name"], { name: "deutsch male" }, /^Deutsch Male$/, "de"],
  [[".lang", ".gender=male"], { lang: "fr", gender: "male" }, /^French.* Male$/, "fr"],
  [[".gender=m"], { lang: "de-DE", gender: "m" }, /^(Deutsch|German) Male$/, "de"],
  [[".gender=f"], { lang: "de-DE", gender: "f" }, /^(Deutsch|German) Female$/, "de"],
  [[".gender=female"], { lang: "it", gender: "female" }, /^Italian Female$/, "it"],
  // No voice of the site has a provider of its own: the website's voice speaks.
  [[".isByok"], { isByok: true }, /^UK English Female$/],
  [[".provider"], { provider: "an unknown provider" }, /^UK English Female$/],
];

export const voiceCases: readonly MemberCase[] = [
  ...selectors.map(
    ([names, voice, expected, lang]): MemberCase => ({
      members: under("features.webPlayer.voice", ...names),
      does: `selects the voice ${JSON.stringify(voice)}`,
      run: async (site) => {
        expect((await requestOf(site, { voice }, { lang })).voice).to.match(expected);
      },
    }),
  ),
  {
    members: under("features.webPlayer.", "pitch", "rate", "volume"),
    does: "are those of the player's speech",
    run: async (site) => {
      const spoken = await requestOf(site, { pitch: 0.8, rate: 1.5, volume: 0.5 }, { pitch: 1.3, rate: 0.7 });
      expect(spoken).to.include({ pitch: "0.8", rate: "1.5", volume: "0.5" });
    },
  },
  {
    members: under("voice.", "name", "pitch", "rate", "volume"),
    does: "are used by everything that has none of its own",
    run: async (site) => {
      const voice = { name: "US English Male", pitch: 1.2, rate: 0.9, volume: 0.4 };
      const spoken = await requestOf(site, {}, voice);
      expect(spoken).to.include({ voice: "US English Male", pitch: "1.2", rate: "0.9", volume: "0.4" });
    },
  },
];
