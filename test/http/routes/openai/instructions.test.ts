import { expect } from "chai";
import { admin, authorize, bytesOf, registerWebsite } from "../../../support/client.ts";
import { duringSuite, duringTest } from "../../../support/during.ts";
import { startInProcessService } from "../../../support/in-process-service.ts";
import { openAiApiKey, serveOpenAi } from "../../../support/wire/openai.ts";

const plainModels = ["tts-1", "tts-1-hd", "tts-1-hd-1106"];

describe("instructions over OpenAI's API", () => {
  const provider = duringSuite(() => serveOpenAi({ models: ["gpt-4o-mini-tts", ...plainModels] }));
  const service = duringSuite(() => startInProcessService({ OPENAI_URL: provider.url }));
  const website = duringTest(() => registerWebsite(service.url));
  let text = 0;

  beforeEach(async () => {
    await setModel("gpt-4o-mini-tts");
    text++;
  });

  const setModel = (model: string) =>
    admin(service.url, "PUT", `/websites/${website.id}/credentials/oai`, { apiKey: openAiApiKey, model });
  const speak = async (members: object, headers: Record<string, string> = {}) => {
    const response = await fetch(`${service.url}/openai/v1/audio/speech`, {
      method: "POST",
      headers: { ...authorize(website), "Content-Type": "application/json", ...headers },
      body: JSON.stringify({ model: "oai", voice: "alloy", input: `Text ${text}.`, ...members }),
    });
    await bytesOf(response);
    return response;
  };
  const instructionsSent = (): unknown[] =>
    provider.requests
      .map(({ body }) => JSON.parse(String(body) || "{}"))
      .filter(({ input }) => input === `Text ${text}.`)
      .map(({ instructions }) => instructions);

  it("reach the provider of a website's own voice, and make other audio", async () => {
    for (const instructions of ["Whisper.", "Shout.", undefined, "", null, "Whisper."]) {
      expect((await speak({ instructions })).status).to.equal(200);
    }
    expect(instructionsSent()).to.deep.equal(["Whisper.", "Shout.", undefined]);
  });

  it("are not charged", async () => {
    const { headers } = await speak({ instructions: "Whisper." });
    expect(headers.get("character-cost")).to.equal(String(`Text ${text}.`.length));
  });

  it("make no difference to models that do not follow them", async () => {
    for (const model of plainModels) {
      text++;
      await setModel(model);
      for (const instructions of ["Whisper.", "Shout."]) await speak({ instructions });
      expect(instructionsSent(), model).to.deep.equal([undefined]);
    }
  });

  it("make no difference to free voices", async () => {
    const free = { model: "g1", voice: "UK English Female" };
    const cached: (string | null)[] = [];
    for (const instructions of ["Whisper.", "Shout."]) {
      const { status, headers } = await speak({ ...free, instructions });
      expect(status).to.equal(200);
      cached.push(headers.get("svc-cached"));
    }
    expect(cached).to.deep.equal(["miss", "memory"]);
  });

  it("are parameters of an idempotent request", async () => {
    const headers = { "Idempotency-Key": "one" };
    expect((await speak({ instructions: "Whisper." }, headers)).status).to.equal(200);
    expect((await speak({ instructions: "Whisper." }, headers)).status).to.equal(200);
    expect((await speak({ instructions: "Shout." }, headers)).status).to.equal(400);
  });

  it("are refused when longer than OpenAI takes", async () => {
    const response = await speak({ instructions: "x".repeat(4097) });
    expect(response.status).to.equal(400);
  });
});
