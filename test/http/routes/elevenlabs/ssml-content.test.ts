import { expect } from "chai";
import fc from "fast-check";
import { alignCharacters, withoutEscapes } from "../../../../src/http/routes/elevenlabs/alignment.ts";
import { ssmlContent } from "../../../../src/http/routes/elevenlabs/ssml-content.ts";
import { authorize, registerWebsite } from "../../../support/client.ts";
import { duringSuite } from "../../../support/during.ts";
import { ask, startInProcessService } from "../../../support/in-process-service.ts";

const documentOf = (text: string, parsesSsml = false) => ssmlContent(text, parsesSsml)?.document;

describe("A text of ElevenLabs' API", () => {
  it("is read as SSML for its breaks, and as plain text beyond them", () => {
    expect(documentOf('Tom & <b>Jerry</b> <break time="1.5s" /> ran.')).to.equal(
      '<speak>Tom &amp; &lt;b&gt;Jerry&lt;/b&gt; <break time="1.5s" /> ran.</speak>',
    );
  });

  it("is plain if it has no valid and complete break, and stays as it is if it is a document", () => {
    for (const text of [
      "One two.",
      "a <breakfast>",
      '<break time="1 hour"/>',
      '<break time="1s">',
      "<speak>a<break/></speak>",
    ])
      expect(documentOf(text), text).to.equal(undefined);
  });

  it("has all elements of SSML if the client asks for them, and no others", () => {
    expect(documentOf('A &amp; B & <phoneme alphabet="ipa" ph="a">C</phoneme> <script>', true)).to.equal(
      '<speak>A &amp; B &amp; <phoneme alphabet="ipa" ph="a">C</phoneme> &lt;script&gt;</speak>',
    );
  });

  it("has times for each of its own characters", () => {
    const characters = fc.constantFrom("a", "&", "<", ">", "😀", '<break time="1s"/>', "&lt;", "<b>");
    fc.assert(
      fc.property(fc.array(characters), fc.boolean(), (parts, parsesSsml) => {
        const text = parts.join("");
        const content = ssmlContent(text, parsesSsml);
        if (!content) return;
        const aligned = withoutEscapes(
          alignCharacters({ text: content.document, ssml: true }, [], 3),
          content,
        );
        expect(aligned.characters.join("")).to.equal(text);
        expect(aligned.character_start_times_seconds).to.have.lengthOf(Array.from(text).length);
      }),
    );
  });
});

describe("The speech of ElevenLabs' API", () => {
  const service = duringSuite(startInProcessService);
  let headers: Record<string, string>;
  before(async () => {
    headers = { ...authorize(await registerWebsite(service.url)), "Content-Type": "application/json" };
  });

  const timed = async (voice: string, body: object, query = "") => {
    const url = `${service.url}/elevenlabs/v1/text-to-speech/${voice}/with-timestamps${query}`;
    const response = await ask(url, { method: "POST", headers, body: JSON.stringify(body) });
    return { ...response, body: JSON.parse(response.text) };
  };

  it("pauses at a break in a text, whose characters are charged and timed as sent", async () => {
    const text = 'One & <break time="2s" />two.';
    const { status, headers: sent, body } = await timed("German_Female", { text });
    expect(status).to.equal(200);
    expect(sent["character-cost"]).to.equal(String(text.length));
    expect(body.alignment.characters.join("")).to.equal(text);
    const at = text.indexOf("<break");
    const { character_start_times_seconds: starts, character_end_times_seconds: ends } = body.alignment;
    expect(ends[at] - starts[at]).to.be.within(1.8, 2.1);
  });

  it("pauses at a break in a text of a voice that flite speaks", async () => {
    const seconds = async (text: string) => {
      const url = `${service.url}/elevenlabs/v1/text-to-speech/US_English_Female?output_format=pcm_22050`;
      const response = await fetch(url, { method: "POST", headers, body: JSON.stringify({ text }) });
      return (await response.arrayBuffer()).byteLength / 2 / 22_050;
    };
    expect((await seconds('One <break time="2s" /> two.')) - (await seconds("One two."))).to.be.within(
      1.7,
      2.6,
    );
  });

  it("parses all SSML if it is asked to, by parameter or member", async () => {
    const text = '<say-as interpret-as="digits">12</say-as>';
    const asked = await timed("German_Female", { text, enable_ssml_parsing: true });
    const byQuery = await timed("German_Female", { text }, "?enable_ssml_parsing=true");
    const plain = await timed("German_Female", { text });
    expect([asked.status, plain.status]).to.deep.equal([200, 200]);
    expect(byQuery.body.audio_base64)
      .to.equal(asked.body.audio_base64)
      .and.not.to.equal(plain.body.audio_base64);
    const broken = await timed("German_Female", { text: "<p>One", enable_ssml_parsing: true });
    expect(broken.status).to.equal(400);
  });
});
