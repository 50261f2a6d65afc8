import { expect } from "chai";
import OpenAI from "openai";
import { type Credentials, registerWebsite, synthesize } from "../support/client.ts";
import { duringSuite } from "../support/during.ts";
import { startInProcessService } from "../support/in-process-service.ts";
import { openPython } from "../support/python.ts";
import { rejection } from "../support/rejection.ts";
import { adminToken } from "../support/service.ts";

interface Page {
  readonly data: readonly { readonly results: readonly object[] }[];
  readonly has_more: boolean;
}

/** OpenAI's clients, unmodified. */
describe("clients that read the usage over OpenAI's API", () => {
  const service = duringSuite(startInProcessService);
  const first = duringSuite(() => registerWebsite(service.url));
  const second = duringSuite(() => registerWebsite(service.url));
  const voice = "UK English Female";
  const python = openPython(`${import.meta.dirname}/openai-usage.py`);

  before(async () => {
    for (const [website, text] of [
      [first, "Twelve chars"],
      [first, "Five."],
      [second, "Seven!!"],
    ] as const) {
      const { status, body } = await synthesize(service.url, website, { voice, text });
      expect(status).to.equal(200);
      await body?.cancel();
    }
  });
  after(async () => {
    await python.close();
  });

  const startTime = (): number => Math.floor(service.time.now / 86_400_000) * 86_400;
  const url = (): string => `${service.url}/openai/v1`;
  const secretOf = ({ apiKey, apiSecret }: Credentials): string => `${apiKey}.${apiSecret}`;
  const rowOf = ({ apiKey }: Credentials, characters: number, requests: number) => ({
    object: "organization.usage.audio_speeches.result",
    characters,
    num_model_requests: requests,
    project_id: null,
    user_id: null,
    api_key_id: apiKey,
    model: null,
  });

  const clients = {
    "npm's openai": (token: string): Promise<Page> =>
      new OpenAI({ baseURL: url(), adminAPIKey: token }).admin.organization.usage.audioSpeeches({
        start_time: startTime(),
        group_by: ["api_key_id"],
        bucket_width: "1d",
      }) as Promise<Page>,
    "PyPI's openai": (token: string): Promise<Page> =>
      python.ask({ url: url(), token, start_time: startTime(), group_by: ["api_key_id"] }),
  };
  for (const [name, read] of Object.entries(clients)) {
    it(`receive that of all keys with an operator's token: ${name}`, async () => {
      const { data, has_more } = await read(adminToken);
      expect(has_more).to.equal(false);
      expect(data).to.have.length(1);
      expect(data[0]?.results).to.have.deep.members([rowOf(first, 17, 2), rowOf(second, 7, 1)]);
    });

    it(`receive that of the key itself with its secret: ${name}`, async () => {
      const { data } = await read(secretOf(second));
      expect(data.map(({ results }) => results)).to.deep.equal([[rowOf(second, 7, 1)]]);
    });
  }

  it("receive OpenAI's error for wrong credentials", async () => {
    expect(await rejection(clients["npm's openai"]("wrong"))).to.be.instanceOf(OpenAI.AuthenticationError);
  });
});
