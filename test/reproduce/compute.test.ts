import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { expect } from "chai";
import type { Page } from "playwright-core";
import type { AudioName } from "../../src/application/synthesis/audio-names.ts";
import { naturalVoicesFolder } from "../../src/engines/natural-voices/natural-voices.ts";
import { compute } from "../../src/reproduce/compute.ts";
import { toolFor } from "../../src/reproduce/tools.ts";
import { openBrowser } from "../support/browser.ts";
import { duringSuite } from "../support/during.ts";
import { startServiceForBrowser } from "../support/in-process-service.ts";
import { isSample } from "../support/sample.ts";
import { sayableTexts } from "./texts.ts";

const runtimes: Readonly<Record<string, string>> = {
  "onnxruntime.wasm": "onnxruntime-web/ort-wasm-simd-threaded.wasm",
  "svoxpico.wasm": "@echogarden/svoxpico-wasm/svoxpico.wasm",
};
const require = createRequire(import.meta.url);
const texts = isSample ? sayableTexts.filter((_, index) => index % 4 === 0) : sayableTexts;
const read = async (name: string): Promise<Uint8Array<ArrayBuffer>> => {
  const runtime = runtimes[name];
  const path = runtime ? require.resolve(runtime) : join(naturalVoicesFolder(undefined) ?? "", name);
  return new Uint8Array(await readFile(path));
};

const nameOf = async (voice: string, lang: string, prosody: object): Promise<AudioName> => {
  const tools = (await toolFor(voice, read)).tool.version(voice.split(":")[1] ?? "");
  const common = { engine: "g1", format: "wav" } as const;
  const recipe = {
    ...common,
    tools: `${tools}; text 1; icu 1`,
    voice,
    lang,
    textFormat: "plain",
    prosody,
  } as const;
  return { ...common, nameDigest: "", voice, reproducible: true, recipe };
};

interface PageGlobals {
  readonly document: { readonly body: { readonly dataset: { readonly files: string } } };
}

/** Runs in the page. */
const computeInPage = async ([script, text, named]: readonly [string, string, AudioName]) => {
  const { compute } = await import(script);
  const files = JSON.parse((globalThis as unknown as PageGlobals).document.body.dataset.files);
  const readFile = async (name: string) =>
    new Uint8Array(await (await fetch(`reproduce/files/${files[name]}`)).arrayBuffer());
  const { sampleRate, samples } = await compute(text, named, readFile);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", samples));
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return { sampleRate, length: samples.length, digest: hex };
};

describe("Audio computed in a page", () => {
  const service = duringSuite(startServiceForBrowser);
  const browser = duringSuite(openBrowser);
  let page: Page;
  let script: string;

  before(async () => {
    page = await browser.context.newPage();
    await page.goto(`${service.url}/reproduce`);
    const main = (await page.locator("script[src]").getAttribute("src")) ?? "";
    const source = await (await fetch(new URL(main, `${service.url}/`))).text();
    script = new URL(/\.\/compute-\w+\.js/.exec(source)?.[0] ?? "", new URL(main, `${service.url}/`)).href;
  });

  for (const [voice, lang] of [
    ["hibari:heart", "en-US"],
    ["pico:en-GB", "en-GB"],
  ] as const) {
    it(`has the samples that Node computes, for ${texts.length} texts of ${voice}`, async () => {
      for (const [index, text] of texts.entries()) {
        const named = await nameOf(voice, lang, {
          rate: 1 + (index % 3) / 4,
          pitch: 1 - (index % 2) / 5,
          volume: 1,
        });
        const { sampleRate, samples } = await compute(text, named, read);
        expect(samples.length, text).to.be.greaterThan(sampleRate / 4);
        const digest = createHash("sha256").update(samples).digest("hex");
        expect(await page.evaluate(computeInPage, [script, text, named] as const), text).to.deep.equal({
          ...{ sampleRate, length: samples.length, digest },
        });
      }
    });
  }
});
