import { expect } from "chai";
import { registerWebsite } from "../support/client.ts";
import { duringSuite } from "../support/during.ts";
import { type ElevenLabsClient, elevenLabsClient, refusalIn } from "../support/elevenlabs-client.ts";
import type { AudioResult } from "../support/python-client.ts";
import { startService, temporaryFolder } from "../support/service.ts";
import { recordedEvents } from "../support/streams.ts";

const voice_id = "UK_English_Female";

interface VoicePage {
  readonly voices: readonly { readonly voice_id: string; readonly name: string }[];
  readonly has_more: boolean;
  readonly total_count: number;
  readonly next_page_token: string | null;
}

/** ElevenLabs' own client for Python, unmodified, with the service's base URL. */
describe("Voices, usage and errors for ElevenLabs' client", () => {
  const folder = duringSuite(temporaryFolder);
  const service = duringSuite(() => startService(folder.path, { BURST_LIMIT: "1000000" }));
  const website = duringSuite(() => registerWebsite(service.url));
  let client: ElevenLabsClient;
  let texts = 0;

  before(async () => {
    client = elevenLabsClient(service.url, website);
  });
  after(async () => {
    await client.close();
  });

  const freshText = (): string => `This is text number ${++texts}. It has two sentences.`;

  it("finds every voice of the list by its id", async () => {
    const { voices } = await client.call<VoicePage>("voices.get_all");
    expect(voices.length).to.be.above(100);
    const some = voices.filter((_, index) => index % 20 === 0);
    const found = await client.results<{ voice_id: string; name: string }>(
      some.map(({ voice_id }) => ({ method: "voices.get", args: { voice_id } })),
    );
    expect(found.map(({ voice_id, name }) => ({ voice_id, name }))).to.deep.equal(
      some.map(({ voice_id, name }) => ({ voice_id, name })),
    );
    const spoken = await client.results<AudioResult>(
      some.map(({ voice_id }) => ({ method: "text_to_speech.convert", args: { voice_id, text: "123" } })),
    );
    for (const { audio } of spoken) expect(audio).to.have.length.above(500);
  });

  it("searches the voices page by page", async () => {
    const seen: string[] = [];
    let token: string | null = null;
    do {
      const page: VoicePage = await client.call("voices.search", {
        ...{ language: "en", sort: "name", page_size: 7 },
        ...(token !== null && { next_page_token: token }),
      });
      expect(page.voices.length).to.be.within(1, 7);
      expect(page.has_more).to.equal(page.next_page_token !== null);
      seen.push(...page.voices.map(({ name }) => name));
      token = page.next_page_token;
      if (token === null) expect(page.total_count).to.equal(seen.length);
    } while (token !== null);
    expect(seen).to.include("UK English Female");
    expect(seen).to.deep.equal([...new Set(seen)].toSorted());

    const british = await client.call<VoicePage>("voices.search", { search: "uk english", gender: "male" });
    expect(british.voices.map(({ name }) => name)).to.deep.equal(["UK English Male"]);
    const chosen = await client.call<VoicePage>("voices.search", { voice_ids: [voice_id, "unknown"] });
    expect(chosen.voices.map((voice) => voice.voice_id)).to.deep.equal([voice_id]);
    const cloned = await client.call<VoicePage>("voices.search", { voice_type: "personal" });
    expect(cloned).to.deep.include({ voices: [], total_count: 0, has_more: false });
  });

  it("lists models with their languages, and speaks with the engine that a model names", async () => {
    const models =
      await client.call<{ model_id: string; languages: { language_id: string }[] }[]>("models.list");
    const ids = models.map(({ model_id }) => model_id);
    expect(ids).to.include.members(["eleven_multilingual_v2", "g1", "g2"]);
    expect(models[0]?.languages.map(({ language_id }) => language_id)).to.include.members(["en", "de"]);
    const args = { voice_id: "g2-en-GB-female", text: freshText(), model_id: "g2" };
    await client.call("text_to_speech.convert", args);
    const servings = await recordedEvents(service.url, website, "SynthesisServed");
    expect(servings.at(-1)).to.include({ engine: "g2" });
  });

  it("is charged once for each request, to the character, and reads it in its subscription", async () => {
    const own = await registerWebsite(service.url, { monthlyCharacters: 5_000 });
    const args = { voice_id, text: freshText() };
    await client.results(
      ["convert", "stream", "convert_with_timestamps", "stream_with_timestamps"].map((name) => ({
        method: `text_to_speech.${name}`,
        args,
      })),
      own,
    );
    const subscription = await client.call<Record<string, unknown>>("user.subscription.get", {}, own);
    const now = new Date();
    expect(subscription).to.deep.include({
      tier: "enterprise",
      character_count: 4 * args.text.length,
      character_limit: 5_000,
      next_character_count_reset_unix: Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1) / 1000,
    });
    const user = await client.call<Record<string, unknown>>("user.get", {}, own);
    expect(user).to.deep.include({ user_id: own.id });
  });

  it("raises ElevenLabs' errors", async () => {
    const text = "Hello.";
    const cases: [object, number, string][] = [
      [{ voice_id: "Nobody", text }, 404, "voice_not_found"],
      [{ voice_id, text, model_id: "whisper" }, 404, "model_not_found"],
      [{ voice_id, text: "" }, 400, "validation_error"],
      [{ voice_id, text, output_format: "mp3_8000_1" }, 400, "validation_error"],
      [{ voice_id, text, voice_settings: { speed: 9 } }, 400, "validation_error"],
      [
        { voice_id, text, pronunciation_dictionary_locators: [{ pronunciation_dictionary_id: "x" }] },
        400,
        "validation_error",
      ],
    ];
    const raised = await client.outcomes(cases.map(([args]) => ({ method: "text_to_speech.convert", args })));
    for (const [index, [args, status, code]] of cases.entries()) {
      const error = { status, type: "ApiError", code };
      expect(refusalIn(raised[index]), JSON.stringify(args)).to.include(error);
    }
    const unknown = await client.refusal(
      "voices.get_all",
      {},
      { id: "", apiKey: "vlk_unknown", apiSecret: "secret" },
    );
    expect(unknown).to.include({ status: 401, code: "invalid_api_key" });
  });

  it("raises quota_exceeded when the month's characters are used, and can still read its subscription", async () => {
    const own = await registerWebsite(service.url, { monthlyCharacters: 10 });
    const error = await client.refusal("text_to_speech.convert", { voice_id, text: "Eleven long" }, own);
    expect(error).to.include({ status: 401, code: "quota_exceeded" });
    const { character_count } = await client.call<Record<string, unknown>>("user.subscription.get", {}, own);
    expect(character_count).to.equal(0);
  });
});
