import { expect } from "chai";
import { article, playButton, player, playerConfig } from "./article.ts";
import type { MemberCase } from "./case.ts";

declare const window: { dataLayer?: { event: string; voxledger: Record<string, unknown> }[] };

export const eventCases: readonly MemberCase[] = [
  {
    members: ["analytics.enabled"],
    does: "pushes the player's events to the page's data layer, which otherwise stays as it is",
    run: async (site) => {
      for (const enabled of [true, false]) {
        await site.configure({ ...playerConfig({ rate: 2 }), analytics: { enabled } });
        const { page, untilEnded } = await site.open(article);
        await playButton(await player(page)).click();
        await untilEnded(3);
        await (await player(page)).getByRole("button", { name: "Listen" }).waitFor();
        const layer = await page.evaluate(() => window.dataLayer);
        if (!enabled) {
          expect(layer).to.equal(undefined);
          continue;
        }
        expect(layer?.[0]?.event).to.equal("voxledger_start");
        expect(layer?.at(-1)?.event).to.equal("voxledger_end");
        expect(layer?.at(-1)?.voxledger).to.include({ completed: true, progress: 1, paragraphCount: 3 });
        expect(layer?.length).to.be.at.most(5); // and three quarters between
      }
    },
  },
];
