import { expect } from "chai";
import { admin, authorize, registerWebsite } from "../../../support/client.ts";
import { duringSuite } from "../../../support/during.ts";
import { ask, startInProcessService } from "../../../support/in-process-service.ts";
import { goodCredentials, serveProviders } from "../../../support/wire/providers.ts";

describe("models and voices over OpenAI's API", () => {
  const providers = duringSuite(serveProviders);
  const service = duringSuite(() =>
    startInProcessService({
      ...providers.env,
      OPENAI_VOICE_MAP: "narrator=UK English Male,robot=en-US-Neural2-C",
      OPENAI_MODEL_MAP: "kokoro=any,chirp=gwn,tts-1=g2",
    }),
  );
  const website = duringSuite(() => registerWebsite(service.url));

  before(async () => {
    await admin(service.url, "PUT", `/websites/${website.id}/credentials/gwn`, goodCredentials.gwn);
  });

  const get = async (path: string, headers: Record<string, string> = {}) => {
    const response = await ask(`${service.url}/openai/v1/${path}`, { headers });
    return { ...response, body: response.text === "" ? undefined : JSON.parse(response.text) };
  };
  const idsIn = (list: { id: string }[]): string[] => list.map(({ id }) => id);

  it("lists OpenAI's models and the engines of the shared catalog to anyone", async () => {
    const { body } = await get("models");
    const shared = ["tts-1", "tts-1-hd", "gpt-4o-mini-tts", "kokoro", "g1", "g2", "g3", "g5"];
    expect(idsIn(body.data)).to.deep.equal(shared);
    expect(body.data[0]).to.deep.equal({
      id: "tts-1",
      object: "model",
      created: 1_767_225_600,
      owned_by: "voxledger",
    });
    expect((await get("audio/models")).body.models).to.deep.equal(shared.map((id) => ({ id, name: id })));
    expect((await get("models/tts-1")).body).to.deep.equal(body.data[0]);
  });

  it("lists OpenAI's names and the voices of the shared catalog to anyone", async () => {
    const { body, headers } = await get("audio/voices");
    const ids = idsIn(body.voices);
    expect(ids)
      .to.include.members(["alloy", "narrator", "UK English Female"])
      .and.not.include("en-US-Neural2-C");
    expect(ids, "stands for a voice of other websites").to.not.include("robot");
    expect(body.voices.find(({ id }: { id: string }) => id === "UK English Female")).to.deep.equal({
      id: "UK English Female",
      name: "UK English Female",
      language: "en-GB",
      gender: "female",
    });
    expect(new Set(ids).size).to.equal(ids.length);
    expect(headers["x-ratelimit-limit"]).to.equal(undefined);
    const unchanged = await get("audio/voices", { "If-None-Match": headers.etag ?? "" });
    expect(unchanged.status).to.equal(304);
  });

  it("lists no voice twice, and none that only browsers have", async () => {
    const native = { name: "Browser's own", lang: "en-US" };
    const { body: added } = await admin(service.url, "POST", "/system-voices", native);
    const voice = { name: "Silent here", flag: "us", gender: "f", lang: "en-US", voiceIDs: [added.id] };
    expect((await admin(service.url, "POST", "/voices", voice)).status).to.equal(201);
    const alloy = { ...voice, name: "alloy", voiceIDs: [10] };
    expect((await admin(service.url, "POST", "/voices", alloy)).status).to.equal(201);
    const ids = idsIn((await get("audio/voices")).body.voices);
    expect(ids.filter((id) => id === "alloy")).to.have.length(1);
    expect(ids).to.not.include("Silent here");
  });

  it("adds the website's own engines and voices with its credentials", async () => {
    const models = await get("models", authorize(website));
    expect(models.body.data.at(-1)).to.include({ id: "gwn", owned_by: "google" });
    expect(idsIn(models.body.data)).to.include("chirp");
    expect(models.headers.vary).to.include("Authorization").and.to.include("xi-api-key");
    const { body } = await get("audio/voices", authorize(website));
    expect(idsIn(body.voices)).to.include("en-US-Neural2-C").and.include("robot");
    expect((await get("models/gwn", authorize(website))).status).to.equal(200);
  });

  it("does not show a model that the caller cannot use", async () => {
    for (const path of ["models/gwn", "models/chirp", "models/nothing"]) {
      const { status, body } = await get(path);
      expect([status, body.error.code, body.error.param]).to.deep.equal([404, "model_not_found", "model"]);
    }
  });

  it("refuses wrong credentials, but takes a bearer without a token for none", async () => {
    expect((await get("models", { Authorization: "Bearer sk-guessed" })).status).to.equal(401);
    expect((await get("models", { "xi-api-key": "guessed" })).status).to.equal(401);
    expect((await get("models", { Authorization: "Bearer " })).status).to.equal(200);
  });
});
