import { expect } from "chai";
import { admin, registerWebsite } from "../../../support/client.ts";
import { duringSuite } from "../../../support/during.ts";
import { ask, startInProcessService } from "../../../support/in-process-service.ts";

describe("A voice in ElevenLabs' API", () => {
  const service = duringSuite(startInProcessService);
  const website = duringSuite(() => registerWebsite(service.url));

  before(async () => {
    for (const name of ["house_voice", "a_b", "a b"]) {
      const voice = { name, flag: "gb", gender: "f", lang: "en-GB", voiceIDs: [301] };
      expect((await admin(service.url, "POST", "/voices", voice)).status).to.equal(201);
    }
  });

  const headers = () => ({ "xi-api-key": `${website.apiKey}.${website.apiSecret}` });
  const speak = async (voiceId: string) => {
    const { status, text } = await ask(
      `${service.url}/elevenlabs/v1/text-to-speech/${encodeURIComponent(voiceId)}`,
      {
        method: "POST",
        headers: { ...headers(), "Content-Type": "application/json" },
        body: JSON.stringify({ text: "Good morning." }),
      },
    );
    return { status, text };
  };
  const show = async (voiceId: string) => {
    const { status, text } = await ask(`${service.url}/elevenlabs/v1/voices/${encodeURIComponent(voiceId)}`, {
      headers: headers(),
    });
    return { status, name: JSON.parse(text).name };
  };

  it("is found by its id and by its name, also if the name looks like an id", async () => {
    for (const id of ["house~5Fvoice", "house_voice"]) {
      expect((await speak(id)).status, id).to.equal(200);
      expect(await show(id), id).to.deep.equal({ status: 200, name: "house_voice" });
    }
  });

  it("is the one with that id where another one has it as its name", async () => {
    expect(await show("a_b")).to.deep.equal({ status: 200, name: "a b" });
    expect(await show("a~5Fb")).to.deep.equal({ status: 200, name: "a_b" });
  });

  it("that does not exist is named in the error as it was requested", async () => {
    const { status, text } = await speak("no_such_voice");
    expect(status).to.equal(404);
    expect(JSON.parse(text).detail).to.include({ status: "voice_not_found" });
    expect(JSON.parse(text).detail.message).to.include('"no_such_voice"');
  });
});
