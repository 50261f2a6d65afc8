import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { bundleConsole } from "../../../src/http/routes/console/bundle.ts";
import { consoleOperations } from "../../../src/http/routes/console/operations.ts";
import { type OperationServer, serveOperations } from "../../support/operation-server.ts";

describe("GET /console", () => {
  let server: OperationServer;
  before(async () => {
    server = await serveOperations(consoleOperations({ consoleFiles: await bundleConsole() }));
  });
  after(() => server.close());

  const filesOf = async (): Promise<string[]> => {
    const page = await (await fetch(`${server.url}/console`)).text();
    return [...page.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, path = ""]) => `${server.url}/${path}`);
  };

  it("serves a page without inline scripts or styles, and a policy that allows none", async () => {
    const response = await fetch(`${server.url}/console`);
    expect(response.status).to.equal(200);
    const page = await response.text();
    expect(page).to.not.match(/<script>|<style|style=|https?:/);
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).to.match(/^default-src 'none'; script-src 'self'; style-src 'self'; /);
    expect(policy).to.include("frame-ancestors 'none'").and.not.include("unsafe");
  });

  it("returns 304 if the caller has the current page", async () => {
    const etag = (await fetch(`${server.url}/console`)).headers.get("etag") ?? "";
    const response = await fetch(`${server.url}/console`, { headers: { "If-None-Match": etag } });
    expect(response.status).to.equal(304);
  });

  it("serves its files for caches to store forever, under URLs that change with them", async () => {
    const files = await filesOf();
    expect(files).to.have.length(2);
    for (const url of files) {
      const response = await fetch(url);
      expect(response.status).to.equal(200);
      expect(response.headers.get("cache-control")).to.equal("public, max-age=31536000, immutable");
      const outdated = url.replace(/assets\/\w+/, "assets/0123456789abcdef");
      expect((await fetch(outdated)).status).to.equal(404);
    }
  });

  it("loads less than 120 KB of scripts before a screen is chosen, and all of them compressed are less than 120 KB", async () => {
    const { files } = await bundleConsole();
    const loaded = new Set<string>();
    const load = (name: string): void => {
      if (loaded.has(name)) return;
      loaded.add(name);
      const text = files.get(name)?.content.toString() ?? "";
      for (const [, imported = ""] of text.matchAll(/(?:from|import)"\.\/([\w-]+\.js)"/g)) load(imported);
    };
    load("console.js");
    const bytesOf = (names: Iterable<string>) =>
      [...names].reduce((sum, name) => sum + (files.get(name)?.content.length ?? 0), 0);
    expect(bytesOf(loaded)).to.be.within(10_000, 119_999);
    const scripts = [...files].filter(([name]) => name.endsWith(".js"));
    const compressed = scripts.reduce((sum, [, { content }]) => sum + gzipSync(content).length, 0);
    expect(compressed).to.be.within(10_000, 119_999);
  });

  it("has a script that neither evaluates text nor sets markup", async () => {
    const { files } = await bundleConsole();
    for (const [name, { content }] of files) {
      expect(content.toString(), name).to.not.match(/\beval\(|new Function\(|\.insertAdjacentHTML\(/);
    }
  });
});
