import { createHash } from "node:crypto";
import { expect } from "chai";
import type { Page } from "playwright-core";
import { seriousViolations } from "../support/accessibility.ts";
import { openBrowser } from "../support/browser.ts";
import { isOverloaded, registerWebsite } from "../support/client.ts";
import { duringSuite } from "../support/during.ts";
import { startServiceForBrowser } from "../support/in-process-service.ts";
import { adminToken } from "../support/service.ts";

describe("/reproduce in a browser", () => {
  const service = duringSuite(() => startServiceForBrowser({ VOICES: "natural" }));
  const browser = duringSuite(openBrowser);
  const website = duringSuite(() => registerWebsite(service.url));
  let page: Page;
  let complaints: string[];

  beforeEach(async () => {
    complaints = [];
    page = await browser.context.newPage();
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(error.message));
    await page.goto(`${service.url}/reproduce`);
  });
  afterEach(() => page.close());

  const compare = async (fields: Record<string, string>): Promise<string> => {
    const all = { apiKey: website.apiKey, secret: website.apiSecret, text: "One, two.", ...fields };
    for (const [name, value] of Object.entries(all)) {
      if (name === "role" || name === "format") await page.locator(`[name=${name}]`).selectOption(value);
      else await page.locator(`[name=${name}]`).fill(value);
    }
    await page.getByRole("button", { name: "Compare" }).click();
    return await resultOf();
  };
  const resultOf = async (): Promise<string> => {
    await page.locator("#result:not([aria-busy])").waitFor();
    return (await page.locator("#result").textContent()) ?? "";
  };
  const factsOf = async (): Promise<Record<string, string>> => {
    const [names, values] = [page.locator("dt"), page.locator("dd")];
    const pairs = (await names.allTextContents()).map(async (name, at) => [
      name,
      await values.nth(at).textContent(),
    ]);
    return Object.fromEntries(await Promise.all(pairs));
  };

  it("may compile WebAssembly, and nothing else beyond the other pages", async () => {
    const { headers } = await fetch(`${service.url}/reproduce`);
    const ofConsole = (await fetch(`${service.url}/console`)).headers.get("Content-Security-Policy") ?? "";
    expect(headers.get("Content-Security-Policy")?.replace(" 'wasm-unsafe-eval'", "")).to.equal(ofConsole);
  });

  it("has no serious violation of the rules of accessibility", async () => {
    expect(await seriousViolations(page)).to.deep.equal([]);
    expect(complaints).to.deep.equal([]);
  });

  it("names the audio of a native voice, which is not reproducible", async () => {
    const result = await compare({ voice: "US English Male" });
    expect(result).to.equal("This voice is not reproducible: it runs in a native program.");
    expect(await factsOf()).to.include({ Reproducible: "no", Characters: "9" });
    expect(complaints).to.deep.equal([]);
  });

  it("recognises the name of other audio", async () => {
    const ledgerName = createHash("sha256").update("another").digest("hex");
    const result = await compare({ voice: "US English Male", ledgerName });
    expect(result).to.equal("This is not what was charged under that name.");
  });

  it("shows the ledger's entry to an operator", async () => {
    const speech = { model: "tts-1", input: "One, two.", voice: "US English Male", response_format: "wav" };
    const authorization = `Bearer ${website.apiKey}.${website.apiSecret}`;
    const spoken = await fetch(`${service.url}/openai/v1/audio/speech`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: authorization },
      body: JSON.stringify(speech),
    });
    await spoken.arrayBuffer();
    await compare({ role: "operator", secret: adminToken, voice: "US English Male" });
    const facts = await factsOf();
    expect(facts.Name).to.match(/^[0-9a-f]{64}$/);
    expect(facts["Ledger, last 31 days"]).to.match(/^served 1 times, 9 characters charged, /);
  });

  for (const voice of ["US English Female", "UK English Female"]) {
    for (const format of ["wav", "flac"]) {
      it(`finds the samples of ${voice} in ${format} equal to those that it computes`, async () => {
        const fields = {
          voice,
          format,
          text: "It costs $12.50, and Dr. Smith paid. Didn't he?",
          rate: "1.1",
        };
        let spoken: string;
        do {
          complaints = []; // of a refusal
          await compare(fields);
          await page.getByRole("button", { name: "Have it spoken" }).click();
          spoken = await resultOf();
        } while (isOverloaded(spoken) || spoken.startsWith("The voice failed"));
        expect(spoken).to.match(/^All \d+ samples are equal: this is what was charged\.$/);
        const name = (await factsOf())["Name that was charged"] ?? "";
        expect(await compare({ ...fields, ledgerName: name })).to.match(/^All \d+ samples are equal/);
        const other = await compare({ ...fields, text: "Another text.", ledgerName: name });
        expect(other).to.equal("This is not what was charged under that name.");
        expect(complaints).to.deep.equal([]);
      });
    }
  }

  it("shows a refusal in the service's words", async () => {
    expect(await compare({ secret: "wrong" })).to.match(/secret|credentials/i);
  });
});
