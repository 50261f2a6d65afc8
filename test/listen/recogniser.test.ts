import { expect } from "chai";
import { registerWebsite } from "../support/client.ts";
import { type InProcessService, startInProcessService } from "../support/in-process-service.ts";
import { type Listener, openListener } from "../support/listening/listener.ts";
import type { Pair } from "../support/same-sound.ts";
import { temporaryFolder } from "../support/service.ts";

/**
 * Sentences that the recogniser understands in words, by voice. It misunderstands many others:
 * `scripts/listen` counts. Its errors are the same each time, on every processor.
 */
const sentences: Readonly<Record<string, readonly (string | Pair)[]>> = {
  "US English Male": [
    "The juice of lemons makes fine punch.",
    "Four hours of steady work faced us.",
    "The boy was there when the sun rose.",
    "Help the woman get back to her feet.",
    ["It costs £5.", "It costs five pounds."],
    ["We charge $5/month.", "We charge five dollars per month."],
    ["It takes 3 hrs by car.", "It takes three hours by car."],
    ["The next town is 20 mi away.", "The next town is twenty miles away."],
    ["It is 20°C outside.", "It is twenty degrees Celsius outside."],
    ["Ask the sales dept. today.", "Ask the sales department today."],
    ["Salt & pepper, please.", "Salt and pepper, please."],
    ["She is #1 in the world.", "She is number one in the world."],
    ["Now 3 × 4 = 12.", "Now three times four equals twelve."],
    ["It is −5 degrees.", "It is minus five degrees."],
    ["We work Mon–Fri.", "We work Monday to Friday."],
    ["Wait for 2½ hours.", "Wait for two and a half hours."],
  ],
  "UK English Male": [
    "The juice of lemons makes fine punch.",
    "The salt breeze came across from the sea.",
    ["It costs £5.", "It costs five pounds."],
    ["It is 20°C outside.", "It is twenty degrees Celsius outside."],
    ["Ask the sales dept. today.", "Ask the sales department today."],
    ["It is −5 degrees.", "It is minus five degrees."],
    ["We leave on Sept. 2.", "We leave on September second."],
  ],
};

describe("A speech recogniser", () => {
  let service: InProcessService;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let listener: Listener;

  before(async () => {
    [service, folder] = await Promise.all([startInProcessService(), temporaryFolder()]);
    const credentials = await registerWebsite(service.url);
    listener = openListener({ url: service.url, credentials, folder: folder.path });
  });
  after(async () => {
    await listener.close();
    await Promise.all([service.close(), folder.remove()]);
  });

  for (const [voice, spoken] of Object.entries(sentences)) {
    for (const sentence of spoken) {
      const [text, words] = typeof sentence === "string" ? [sentence, sentence] : sentence;
      it(`hears “${words}” where ${voice} speaks “${text}”`, async () => {
        const { heard, right } = await listener.hear(voice, text, words);
        expect(right, heard).to.equal(true);
      });
    }
  }
});
