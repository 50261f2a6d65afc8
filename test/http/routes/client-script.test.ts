import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { loadBundles } from "../../support/bundles.ts";
import { duringSuite } from "../../support/during.ts";
import { childrenOf } from "../../support/processes.ts";
import { startService, temporaryFolder } from "../../support/service.ts";

describe("GET /client.js", () => {
  const folder = duringSuite(temporaryFolder);
  const service = duringSuite(() => startService(folder.path));
  const get = (headers: Record<string, string> = {}) => fetch(`${service.url}/client.js`, { headers });

  it("serves the library to every page, without credentials, as one module", async () => {
    const response = await get({ Origin: "https://anywhere.example" });
    expect(response.status).to.equal(200);
    expect(Object.fromEntries(response.headers)).to.include({
      "content-type": "text/javascript; charset=utf-8",
      "access-control-allow-origin": "*",
      "cross-origin-resource-policy": "cross-origin",
      "cache-control": "public, max-age=3600, stale-while-revalidate=86400",
      "x-content-type-options": "nosniff",
    });
    const script = await response.text();
    expect(script).to.match(/export\{[^}]*\bas Voxledger\b/);
    expect(script).to.not.match(/\bimport\s*[{*"']/);
    expect(script.length).to.be.below(43_500);
  });

  it("serves rules of sentences and languages, and labels, beside it, which it loads when it needs them", async () => {
    const paths = ["/client.js", "/client-languages.js", "/client-sentences.js", "/client-labels.js"];
    const [library, languages = "", sentences = "", labels = ""] = await Promise.all(
      paths.map(async (path) => (await fetch(service.url + path)).text()),
    );
    expect(library?.match(/\bimport\([^)]*\)/g)).to.have.members([
      'import("./client-languages.js")',
      'import("./client-sentences.js")',
      'import("./client-labels.js")',
    ]);
    for (const script of [languages, sentences, labels]) expect(script).to.not.match(/\bimport\s*[({*"']/);
    expect(languages.length).to.be.below(29_000);
    expect(sentences.length).to.be.below(17_000);
    expect(labels.length).to.be.below(9_000);
  });

  it("serves the players as modules beside it, whose larger part is loaded on demand", async () => {
    const [player = "", features = ""] = await Promise.all(
      ["/player.js", "/player-features.js"].map(async (path) => {
        const response = await fetch(service.url + path);
        expect(response.status).to.equal(200);
        expect(response.headers.get("content-type")).to.equal("text/javascript; charset=utf-8");
        expect(response.headers.get("access-control-allow-origin")).to.equal("*");
        return await response.text();
      }),
    );
    expect(player.match(/\bimport\b(?!\.meta)[^;]*?"[^"]+"/g)).to.have.length(2);
    expect(player).to.include('from"./client.js"').and.to.include('import("./player-features.js")');
    expect(player.length).to.be.below(1_500);
    expect(features.match(/\bimport\b(?!\.meta)[^;]*?"[^"]+"/g)).to.deep.equal([
      'import("./client-labels.js"',
    ]);
    expect(features.length).to.be.below(52_000);
  });

  it("returns 304 if the caller has it", async () => {
    const etag = (await get()).headers.get("etag") ?? "";
    expect(etag).to.match(/^"[\w-]{43}"$/);
    const response = await get({ "If-None-Match": etag });
    expect(response.status).to.equal(304);
    expect(await response.text()).to.equal("");
  });

  it("has the same bytes and entity tag in every process", async () => {
    for (const [path, here] of Object.entries((await loadBundles()).client)) {
      const there = await fetch(service.url + path, { headers: { "Accept-Encoding": "identity" } });
      expect(there.headers.get("etag")).to.equal(here.etag);
      expect(Buffer.from(await there.arrayBuffer()).equals(here.body)).to.equal(true);
    }
  });

  it("compresses it for callers that can read that, under another entity tag", async () => {
    const [plain, compressed] = await Promise.all(
      ["identity", "gzip, deflate, br"].map((coding) => get({ "Accept-Encoding": coding })),
    );
    expect(plain?.headers.get("content-encoding")).to.equal(null);
    expect(compressed?.headers.get("content-encoding")).to.equal("br");
    expect(compressed?.headers.get("etag")).not.to.equal(plain?.headers.get("etag"));
    expect(compressed?.headers.get("vary")).to.include("Accept-Encoding");
    expect(Number(compressed?.headers.get("content-length"))).to.be.below(17_000);
    expect(await compressed?.text()).to.equal(await plain?.text());
  });

  it("leaves no bundler process running", () => {
    expect(childrenOf(service.pid).filter(({ command }) => command.includes("esbuild"))).to.deep.equal([]);
  });

  it("also runs in Node", async () => {
    const node = await mkdtemp(join(tmpdir(), "voxledger-node-"));
    await writeFile(join(node, "client.mjs"), Buffer.from(await (await get()).arrayBuffer()));
    const asking = `
      import { Voxledger } from "./client.mjs";
      const client = new Voxledger({ apiKey: "k", apiSecret: "s", baseUrl: "${service.url}" });
      client.voice("A").catch(({ status, code }) => console.log(status, code));`;
    await writeFile(join(node, "ask.mjs"), asking);
    const { stdout } = await promisify(execFile)(process.execPath, [join(node, "ask.mjs")], {
      timeout: 240_000,
    });
    await rm(node, { recursive: true });
    expect(stdout).to.equal("401 UNAUTHORIZED\n");
  });
});
