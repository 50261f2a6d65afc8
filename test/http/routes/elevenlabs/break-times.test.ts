import { expect } from "chai";
import { authorize, registerWebsite } from "../../../support/client.ts";
import { ask, startInProcessService } from "../../../support/in-process-service.ts";

describe("The times of characters around a break", () => {
  it("are those of the audio that espeak-ng makes", async () => {
    const service = await startInProcessService();
    try {
      const website = await registerWebsite(service.url);
      const text = '<speak>One <break time="2s"/>two.</speak>';
      const { status, text: body } = await ask(
        `${service.url}/elevenlabs/v1/text-to-speech/German_Female/with-timestamps`,
        {
          method: "POST",
          headers: { ...authorize(website), "Content-Type": "application/json" },
          body: JSON.stringify({ text }),
        },
      );
      expect(status).to.equal(200);
      const { character_start_times_seconds: starts, character_end_times_seconds: ends } =
        JSON.parse(body).alignment;
      const at = text.indexOf("<break");
      expect(ends[at] - starts[at]).to.be.within(1.8, 2.1);
      expect(ends[text.indexOf("One") + 2], "the end of One").to.be.below(1);
    } finally {
      await service.close();
    }
  });
});
