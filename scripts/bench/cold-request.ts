/**
 * Measures the milliseconds for a new sentence that is requested over HTTP, recorded and delivered
 * completely. Compares with the same two tools, started directly and connected by a pipe.
 */
import { type Credentials, registerWebsite, synthesizeByPost } from "../../test/support/client.ts";
import { startService } from "../../test/support/service.ts";
import { speakByShellPipeline } from "./shell-pipeline.ts";
import { milliseconds, sideBySide } from "./side-by-side.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

const voice = "UK English Female";
const shellVoice = "gmw/en+f3";

let sentences = 0;
const freshSentence = (): string => {
  sentences += 1;
  return `This is sentence number ${String(sentences).padStart(4, "0")}, and the service has never received a request to synthesize it before.`;
};

const speakByService = async (url: string, website: Credentials): Promise<void> => {
  const response = await synthesizeByPost(url, website, { voice, text: freshSentence() });
  const { byteLength } = await response.arrayBuffer();
  const source = response.headers.get("svc-cached");
  if (response.status !== 200 || source !== "miss" || byteLength === 0)
    throw new Error(`answered with ${response.status}, ${source}, ${byteLength} bytes`);
};

await inTemporaryFolder(async (folder) => {
  const service = await startService(folder, { BURST_LIMIT: "1000000" });
  try {
    const website = await registerWebsite(service.url);
    await sideBySide({
      name: "cold request, 100 characters",
      unit: "ms",
      aim: { atMost: 0.35 },
      rounds: 30,
      warmUps: 3,
      ours: () => milliseconds(() => speakByService(service.url, website)),
      bare: () => milliseconds(() => speakByShellPipeline(freshSentence(), shellVoice)),
    });
  } finally {
    await service.stop();
  }
});
