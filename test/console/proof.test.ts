import { createHash, webcrypto } from "node:crypto";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { build } from "esbuild";
import fc from "fast-check";
import { createHash as createBrowserHash, hash } from "../../src/console/proof/node-crypto.ts";
import type { Verdict, verify as Verify } from "../../src/console/proof/verify.ts";
import { createDeferredVerifiers, type Subtle } from "../../src/console/proof/verify.ts";
import { createKeyMonthExport } from "../../src/ledger/proof/key-month-export.ts";
import { sealing, signer, writeBusyDay } from "../ledger/proof/sealed-store.ts";
import { collect } from "../support/collect.ts";
import { openTemporaryStore } from "../support/temporary-store.ts";

describe("SHA-256 for browsers", () => {
  it("gives the digests of Node, whatever the length and the parts", () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 4 }),
        fc.string(),
        (parts, text) => {
          const [browser, node] = [createBrowserHash("sha256"), createHash("sha256")];
          for (const part of parts) browser.update(part) && node.update(part);
          expect(browser.update(text).digest("hex")).to.equal(node.update(text).digest("hex"));
          expect(hash("sha256", text)).to.equal(createHash("sha256").update(text).digest("hex"));
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe("the proof of a key's month, as browsers run it", () => {
  const keyMonth = { apiKey: "k1", month: "2026-11" };
  let lines: string[];
  let verify: typeof Verify;

  before(async () => {
    const temporary = await openTemporaryStore();
    const sealed = sealing(temporary.store);
    await writeBusyDay(sealed);
    const exportKeyMonth = createKeyMonthExport({
      store: temporary.store,
      seals: sealed.seals,
      signer,
      clock: Date.now,
    });
    lines = (await collect(exportKeyMonth(keyMonth))).join("").split(/(?<=\n)/);
    await temporary.remove();
    verify = await bundledVerify();
  });

  const verdictOf = (edited: readonly string[], verifierKeys = `${signer.verifierKey}\n`): Promise<Verdict> =>
    verify({ ...keyMonth, verifierKeys, chunks: chunksOf(edited.join("")) });
  const problemOf = async (edited: readonly string[]): Promise<string> => {
    const verdict = await verdictOf(edited);
    return verdict.status === "not genuine" ? verdict.problem : "";
  };

  it("is genuine and signed, without any module of Node", async () => {
    const verdict = await verdictOf(lines);
    expect(verdict).to.include({ status: "genuine", isSigned: true });
  });

  it("uses no iterator helpers, which some supported browsers lack", async () => {
    const prototype = Iterator.prototype as object;
    const { constructor: _, ...helpers } = Object.getOwnPropertyDescriptors(prototype);
    for (const name of Object.keys(helpers)) Reflect.deleteProperty(prototype, name);
    try {
      expect((await verdictOf(lines)).status).to.equal("genuine");
    } finally {
      Object.defineProperties(prototype, helpers);
    }
  });

  it("names the first changed, dropped, reordered or inserted event", () =>
    fc.assert(
      fc.asyncProperty(fc.nat(lines.length - 3), fc.nat(lines.length - 3), async (some, other) => {
        const [low, high] = [Math.min(some, other), Math.max(some, other)];
        const changed = (lines[low] as string).replace(/"created":\d/, '"created":9');
        expect(await problemOf(lines.with(low, changed))).to.match(
          new RegExp(`^line ${low} was changed: \\S+ revision`),
        );
        expect(await problemOf(lines.toSpliced(low, 1))).to.match(
          new RegExp(`^line ${low} is missing .*revision`),
        );
        expect(await problemOf(lines.toSpliced(low, 0, lines[high] as string))).to.match(
          /is missing|was doubled/,
        );
        if (low === high) return;
        const swapped = lines.with(low, lines[high] as string).with(high, lines[low] as string);
        expect(await problemOf(swapped)).to.match(new RegExp(`^line ${low} is missing .*revision`));
      }),
      { numRuns: 60 },
    ));

  it("is not genuine if a signature is not one of the public key", async () => {
    const forged = lines.map((line) =>
      line.replace(
        /(— voxledger\/test [A-Za-z0-9+/]{20})([A-Za-z0-9+/])/,
        (_, start, next) => `${start}${next === "A" ? "B" : "A"}`,
      ),
    );
    expect(forged).to.not.deep.equal(lines);
    const last = lines.with(-1, forged.at(-1) as string);
    expect(await problemOf(last)).to.equal("a signature is not one of the seal's public key");
  });
});

describe("signatures that are verified after the rules", () => {
  const text = new TextEncoder().encode("a text\n");

  it("are wrong if any is wrong, and if there is none", async () => {
    const { keys, check } = createDeferredVerifiers(signer.verifierKey, webcrypto.subtle);
    expect(await check()).to.equal("wrong");
    expect(keys[0]?.verify(text, new Uint8Array(64))).to.equal(true);
    expect(await check()).to.equal("wrong");
  });

  it("are not verified in a browser without Ed25519", async () => {
    const unsupported = { importKey: () => Promise.reject(new DOMException("no", "NotSupportedError")) };
    const { keys, check } = createDeferredVerifiers(signer.verifierKey, unsupported as unknown as Subtle);
    keys[0]?.verify(text, new Uint8Array(64));
    expect(await check()).to.equal("no Ed25519");
  });
});

/** The module as in the console's bundle, which has no imports left. */
const bundledVerify = async (): Promise<typeof Verify> => {
  const pathOf = (name: string) => fileURLToPath(new URL(`../../src/console/proof/${name}`, import.meta.url));
  const { outputFiles } = await build({
    entryPoints: [pathOf("verify.ts")],
    alias: { "node:crypto": pathOf("node-crypto.ts") },
    bundle: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    write: false,
    tsconfigRaw: {},
  });
  const code = outputFiles[0]?.text ?? "";
  expect(code).to.not.match(/\bBuffer\b|from "node:/);
  return (await import(`data:text/javascript;base64,${Buffer.from(code).toString("base64")}`)).verify;
};

async function* chunksOf(text: string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length; start += 1_000) yield bytes.subarray(start, start + 1_000);
}
