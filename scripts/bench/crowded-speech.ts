/**
 * Milliseconds for a new short sentence requested with one key while another key keeps 64 texts of
 * 5,000 digits in flight; compared with the same requests without that load, before and after.
 */
import { registerWebsite, synthesizeByPost } from "../../test/support/client.ts";
import { startDigitFlood } from "../../test/support/digit-flood.ts";
import { startService } from "../../test/support/service.ts";
import { figuresOf, milliseconds } from "./side-by-side.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

const voice = "US English Female";
const rounds = 100;
const inFlight = 64;
/** The time in which the flood fills its queue. */
const settleMs = 3000;

await inTemporaryFolder(async (folder) => {
  const service = await startService(folder, { BURST_LIMIT: "1000000", MAX_TEXT_CHARACTERS: "5000" });
  try {
    const website = await registerWebsite(service.url);
    const flooding = await registerWebsite(service.url);
    let sentences = 0;
    const request = async (): Promise<void> => {
      const text = `Hello there, number ${++sentences}.`;
      const answer = await synthesizeByPost(service.url, website, { voice, text });
      await answer.arrayBuffer();
      if (answer.status !== 200) throw new Error(`answered with ${answer.status}`);
    };
    const times = async (count: number): Promise<number[]> => {
      const all: number[] = [];
      while (all.length < count) all.push(await milliseconds(request));
      return all;
    };
    await times(5);
    const before = await times(rounds / 2);
    const flood = startDigitFlood(service.url, flooding, { inFlight, voice });
    await new Promise((resolve) => setTimeout(resolve, settleMs));
    const ours = await times(rounds);
    await flood.stop();
    await new Promise((resolve) => setTimeout(resolve, settleMs));
    const bare = [...before, ...(await times(rounds / 2))];
    const name = `short sentence beside ${inFlight} long texts of another key`;
    console.log(JSON.stringify(figuresOf({ name, unit: "ms", aim: { atMost: 3 } }, { ours, bare })));
  } finally {
    await service.stop();
  }
});
