import { expect } from "chai";
import { hardTexts } from "../../../engines/local/japanese/hard-texts.ts";
import { type Credentials, registerWebsite, synthesizeByPost } from "../../../support/client.ts";
import { type InProcessService, startInProcessService } from "../../../support/in-process-service.ts";

describe("A Japanese text", () => {
  let service: InProcessService;
  let website: Credentials;
  before(async () => {
    service = await startInProcessService({ BURST_LIMIT: "1000000" });
    website = await registerWebsite(service.url);
  });
  after(() => service.close());

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
