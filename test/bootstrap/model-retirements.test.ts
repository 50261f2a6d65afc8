import { expect } from "chai";
import { logModelRetirements } from "../../src/bootstrap/model-retirements.ts";
import { retirementNotice, retirementOf } from "../../src/domain/accounts/model-retirements.ts";
import { openAiProvider } from "../../src/engines/openai/provider.ts";
import type { Exchange } from "../../src/engines/provider-http/exchange.ts";
import { openCredentialsInstance, operator } from "../support/credentials-instance.ts";

const before = Date.parse("2026-11-26T12:00:00Z");
const after = Date.parse("2027-01-06T00:00:00Z");

describe("A model that OpenAI ends", () => {
  for (const model of ["tts-1", "tts-1-hd", "gpt-4o-mini-tts", "tts-1-1106", "gpt-4o-mini-tts-2025-12-15"]) {
    it(`is known with its date and replacement: ${model}`, () => {
      expect(retirementOf("https://api.openai.com/v1", model)).to.deep.equal({
        ...{ model, date: "2027-01-06", replacement: "gpt-realtime-2.1-mini" },
      });
    });
  }
  for (const [model, replacement] of [
    ["gpt-realtime", "gpt-realtime-2.1"],
    ["gpt-realtime-2025-08-28", "gpt-realtime-2.1"],
    ["gpt-realtime-mini", "gpt-realtime-2.1-mini"],
  ] as const) {
    it(`is known with its date and replacement: ${model}`, () => {
      const retirement = { model, date: "2027-01-20", replacement };
      expect(retirementOf("https://api.openai.com/v1", model)).to.deep.equal(retirement);
    });
  }
  for (const [url, model] of [
    ["https://api.openai.com", "gpt-realtime-2.1-mini"],
    ["https://api.openai.com", "constructor"],
    ["https://tts.example/v1", "tts-1"],
    ["http://127.0.0.1:8880/v1", "tts-1"],
    ["no url", "tts-1"],
  ] as const) {
    it(`is not every model of every server: ${model} at ${url}`, () => {
      expect(retirementOf(url, model)).to.equal(undefined);
    });
  }

  it("is announced until its date, and reported from then on", () => {
    const retirement = retirementOf("https://api.openai.com", "tts-1");
    if (!retirement) throw new Error("unknown");
    expect(retirementNotice(retirement, after - 1)).to.equal(
      'The model tts-1 stops working on 2027-01-06: set the credentials again with "model": "gpt-realtime-2.1-mini".',
    );
    expect(retirementNotice(retirement, after)).to.include("has stopped working on 2027-01-06");
  });

  describe("in the credentials of websites", () => {
    const voices = ["alloy"];
    const models: Exchange = async ({ url }) => ({
      status: 200,
      headers: {},
      body: (async function* () {
        yield Buffer.from(JSON.stringify({ data: [], of: url.hostname }));
      })(),
    });
    const oai = openAiProvider({ baseUrl: "https://api.openai.com", operators: models, websites: models });

    it("is named when they are set, in their lists, and in the log, without the key", async () => {
      const instance = await openCredentialsInstance({ providers: { oai } });
      try {
        const { credentials } = instance;
        const set = async (more: object) => {
          const website = await instance.aWebsite();
          const given = { apiKey: "sk-secret-of-nobody", voices, ...more };
          return { website, details: await credentials.set(website, "oai", given, operator) };
        };
        const all = [
          await set({}),
          await set({ model: "tts-1" }),
          await set({ model: "gpt-realtime-2.1-mini" }),
          await set({ model: "tts-1", baseUrl: "https://tts.example/v1" }),
        ];
        expect(all.map(({ details }) => details.retirement?.model)).to.deep.equal([
          ...["gpt-4o-mini-tts", "tts-1", undefined, undefined],
        ]);
        for (const { website, details } of all)
          expect(await credentials.list(website)).to.deep.equal([details]);
        const listed = await credentials.listAll();
        expect(listed.filter(({ retirement }) => retirement)).to.have.length(2);

        const lines: unknown[][] = [];
        const log = { warn: (...line: unknown[]) => void lines.push(line) };
        const view = instance.view;
        logModelRetirements({ credentials: view, cipher: instance.sealing, providers: { oai } }, log, before);
        expect(lines).to.have.length(2);
        expect(JSON.stringify(lines)).to.include(all[0]?.website).and.not.include("sk-secret");
        expect(lines[0]?.[1]).to.match(
          /^The model gpt-4o-mini-tts stops working on 2027-01-06: .* 1 website/,
        );
      } finally {
        await instance.close();
      }
    });

    it("is not named by a process that cannot open the credentials", async () => {
      const instance = await openCredentialsInstance({ providers: { oai } });
      try {
        const website = await instance.aWebsite();
        await instance.credentials.set(website, "oai", { apiKey: "sk-secret-of-nobody", voices }, operator);
        const other = await openCredentialsInstance({
          ...{ folder: instance.folder, keys: [Buffer.alloc(32, 8)], providers: { oai } },
        });
        const [details] = await other.credentials.list(website);
        expect(details).to.include({ engine: "oai" }).and.not.have.property("retirement");
        await other.close();
      } finally {
        await instance.close();
      }
    });
  });
});
