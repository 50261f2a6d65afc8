import { expect } from "chai";
import { hardTexts } from "../../../engines/local/japanese/hard-texts.ts";
import { registerWebsite, synthesizeByPost } from "../../../support/client.ts";
import { duringSuite } from "../../../support/during.ts";
import { startInProcessService } from "../../../support/in-process-service.ts";

describe("A Japanese text", () => {
  const service = duringSuite(() => startInProcessService({ BURST_LIMIT: "1000000" }));
  const website = duringSuite(() => registerWebsite(service.url));

  it("is spoken whatever characters it has, by a Japanese voice", async () => {
    expect(hardTexts.length).to.be.at.least(60);
    const refused: string[] = [];
    for (const text of hardTexts) {
      const response = await synthesizeByPost(service.url, website, { text, voice: "Japanese Female" });
      const audio = await response.arrayBuffer();
      if (response.status !== 200 || audio.byteLength < 200) refused.push(`${text}: ${response.status}`);
    }
    expect(refused).to.deep.equal([]);
  });
});
