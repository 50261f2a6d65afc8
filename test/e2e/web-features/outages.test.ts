import { expect } from "chai";
import type { Page } from "playwright-core";
import { admin } from "../../support/client.ts";
import {
  type FeaturePage,
  type FeatureWindow,
  openFeatureSite,
} from "../../support/client-library/feature-page.ts";
import {
  endUtterance,
  installNativeVoices,
  type NativeVoiceOptions,
  untilUtterances,
} from "../../support/client-library/native-voices.ts";
import { duringSuite, duringTest } from "../../support/during.ts";
import { playButton, player, playerConfig, players } from "./article.ts";

declare const window: FeatureWindow;

/** The browser has played none of them before: it would find the audio in its cache. */
let [first, second, third, arabic] = ["", "", "", ""];
let day = 0;
const writeArticle = (): void => {
  day++;
  first = `On day ${day} the harbour was quiet, and the boats had not left with the tide.`;
  second = `They left on the evening of day ${day}, when the rain was over.`;
  third = `In night ${day} the lights of the town were all that could be seen from the sea.`;
  arabic = `غادر القطار المدينة في المساء ${day}.`;
};

const everywhere: readonly NativeVoiceOptions[] = [
  { lang: "en-US", localService: false },
  { lang: "en-GB" },
  { lang: "ar-SA" },
];
/** What the service is asked for a speech. */
const speechRequests = /\/v2\/(?:articles|text)|\/audio\//;
const partAudio = /\/audio\/.*mp3/;

const unavailable = "Listening is unavailable right now";

describe("a page whose service cannot speak", () => {
  const shared = duringSuite(openFeatureSite);
  beforeEach(writeArticle);
  afterEach(async () => {
    await shared.browser.context.setOffline(false);
    await shared.closePages();
  });

  const open = async (
    site: typeof shared,
    voices: readonly NativeVoiceOptions[],
    { attributes = "", prepare }: { attributes?: string; prepare?: (page: Page) => Promise<unknown> } = {},
  ): Promise<FeaturePage> => {
    await site.configure(playerConfig());
    const head = `<script type="module" src="${site.service.url}/player.js" data-api-key="${site.website.apiKey}" ${attributes}></script>`;
    const paragraphs = `<p>${first}</p><p>${second}</p><p lang="ar">${arabic}</p><p>${third}</p>`;
    return await site.open(`<main><article>${paragraphs}</article></main>`, {
      head,
      prepare: async (page) => {
        await installNativeVoices(page, voices);
        await prepare?.(page);
      },
    });
  };
  const listen = async (feature: FeaturePage) => {
    const shown = await player(feature.page);
    await playButton(shown).click();
    return shown;
  };
  const refuse = (page: Page, status: number, headers: Record<string, string> = {}): Promise<unknown> =>
    page.route(speechRequests, (route) =>
      route.fulfill({
        status,
        headers: {
          "Access-Control-Allow-Origin": "*",
          "Access-Control-Expose-Headers": "*",
          "Content-Type": "application/json",
          ...headers,
        },
        body: JSON.stringify({ error: { message: `status ${status}`, statusCode: status } }),
      }),
    );
  /** Says all parts with the browser's voices, and returns them. */
  const hearNative = async (page: Page, count: number) => {
    for (let spoken = 1; spoken <= count; spoken++) {
      await untilUtterances(page, spoken);
      await endUtterance(page);
    }
    return (await untilSpokenBy(page)).slice(0, count).map(({ text, voice }) => [voice, text]);
  };
  const untilSpokenBy = (page: Page) =>
    page.evaluate(() => (window as unknown as { utterances: { text: string; voice: string }[] }).utterances);

  describe("with a suspended key", () => {
    const suspended = duringTest(async () => {
      const suspend = (change: "suspend" | "reinstate") =>
        admin(shared.service.url, "POST", `/keys/${shared.website.apiKey}/${change}`, { reason: "a test" });
      return {
        suspend: () => suspend("suspend"),
        close: async () => {
          await suspend("reinstate");
        },
      };
    });

    it("reads with the browser's voices, found by the language alone, also at the next load", async () => {
      const feature = await open(shared, everywhere);
      const { status } = await suspended.suspend();
      expect(status).to.equal(200);
      const asked: string[] = [];
      feature.page.on("request", (request) => {
        if (request.url().startsWith(shared.service.url)) asked.push(new URL(request.url()).pathname);
      });
      await listen(feature);
      expect(await hearNative(feature.page, 4)).to.deep.equal([
        ["en-GB", first],
        ["en-GB", second],
        ["ar-SA", arabic],
        ["en-GB", third],
      ]);
      expect(asked.filter((path) => path !== "/v2/articles")).to.deep.equal([]);
      await feature.page.reload();
      await player(feature.page);
    });

    it("tells that listening is unavailable where the browser has no voice that may speak, and then shows no player until the key is reinstated", async () => {
      const remote = [{ lang: "en-US", localService: false }];
      for (const [voices, attributes] of [
        [[], ""],
        [remote, ""],
        [everywhere, 'data-fallback="none"'],
      ] as const) {
        const feature = await open(shared, voices, { attributes });
        await suspended.suspend();
        const shown = await listen(feature);
        await shown.getByRole("status").filter({ hasText: unavailable }).waitFor();
        expect(await shown.textContent()).not.to.match(/again/i);
        expect(await untilSpokenBy(feature.page)).to.deep.equal([]);
        await feature.page.reload();
        await feature.page.waitForLoadState("networkidle");
        expect(await players(feature.page).count()).to.equal(0);
        await suspended.close();
        await feature.page.reload();
        await player(feature.page);
        writeArticle();
      }
    });

    it("reads with a voice that sends the text to its maker only if the page allows that", async () => {
      const remote = [{ lang: "en-US", localService: false }];
      const feature = await open(shared, remote, { attributes: 'data-fallback="native-remote"' });
      await suspended.suspend();
      await listen(feature);
      expect(await hearNative(feature.page, 1)).to.deep.equal([["en-US", first]]);
    });
  });

  for (const [status, headers] of [
    [500, {}],
    [429, { "Retry-After": "40" }],
  ] as const) {
    it(`continues at the same part after a status ${status}`, async () => {
      const feature = await open(shared, everywhere);
      const shown = await player(feature.page);
      let loaded = 0;
      await feature.page.route(partAudio, async (route) => {
        if (loaded++ === 0) return await route.continue();
        await route.fulfill({
          status,
          headers: { "Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "*", ...headers },
        });
      });
      await playButton(shown).click();
      expect(await hearNative(feature.page, 3)).to.deep.equal([
        ["en-GB", second],
        ["ar-SA", arabic],
        ["en-GB", third],
      ]);
      await shown.getByText("Listen").waitFor();
    });
  }

  it("waits for a short refusal, and for its own fault tells that the article cannot be read", async () => {
    const feature = await open(shared, everywhere);
    let refusals = 0;
    await feature.page.route(/articles/, async (route) => {
      if (refusals++ > 0) return await route.continue();
      const headers = { "Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "*" };
      await route.fulfill({ status: 429, headers: { ...headers, "Retry-After": "1" } });
    });
    await listen(feature);
    await feature.untilEnded(1);
    expect(await untilSpokenBy(feature.page)).to.deep.equal([]);

    const refused = await open(shared, everywhere);
    await refuse(refused.page, 400);
    const shown = await listen(refused);
    await shown.getByRole("status").filter({ hasText: "could not be read aloud" }).waitFor();
    expect(await untilSpokenBy(refused.page)).to.deep.equal([]);
  });

  it("reads on with a browser's voice while it is offline, and then with the service again", async () => {
    third = Array.from({ length: 9 }, (_, index) => `Hour ${index} of day ${day}.`).join("</p><p>");
    const feature = await open(shared, everywhere);
    const shown = await player(feature.page);
    await feature.page.context().setOffline(true);
    await playButton(shown).click();
    expect((await hearNative(feature.page, 2)).map(([, text]) => text)).to.deep.equal([first, second]);
    await feature.page.context().setOffline(false);
    const isBack = feature.page.waitForRequest(speechRequests);
    let hasReturned = false;
    void isBack.then(() => {
      hasReturned = true;
    });
    // It finds out during a part that the service is back, and returns to it for the next one.
    for (let count = 3; !hasReturned; count++) {
      await Promise.race([isBack, untilUtterances(feature.page, count)]);
      await endUtterance(feature.page);
    }
    await feature.untilEnded(1);
    await shown.getByText("Listen").waitFor();
  });

  it("waits for the network without a voice of the browser, and resumes by itself", async () => {
    const feature = await open(shared, []);
    const shown = await player(feature.page);
    await feature.page.context().setOffline(true);
    await playButton(shown).click();
    await feature.page.waitForEvent("requestfailed", (request) => request.url().includes("articles"));
    await feature.page.context().setOffline(false);
    await feature.untilEnded(4);
  });

  describe("because it has ended", () => {
    const own = duringTest(openFeatureSite);

    it("continues in the middle of the article", async () => {
      const feature = await open(own, everywhere);
      const shown = await player(feature.page);
      const closed = Promise.withResolvers<void>();
      let loaded = 0;
      await feature.page.route(partAudio, async (route) => {
        if (loaded++ > 0) await closed.promise;
        await route.continue();
      });
      await playButton(shown).click();
      await feature.page.waitForResponse(partAudio);
      await own.service.close();
      closed.resolve();
      const spoken = await hearNative(feature.page, 3);
      expect(spoken.at(-1)).to.deep.equal(["en-GB", third]);
    });
  });
});
