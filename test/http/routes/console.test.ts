import { expect } from "chai";
import { consoleOperations } from "../../../src/http/routes/console/operations.ts";
import { loadBundles } from "../../support/bundles.ts";
import { duringSuite } from "../../support/during.ts";
import { serveOperations } from "../../support/operation-server.ts";

describe("GET /console", () => {
  const server = duringSuite(() => serveOperations(consoleOperations({ bundles: loadBundles })));

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

  it("loads less than 50 KB of compressed scripts before a screen is chosen, and less than 120 KB in all", async () => {
    const { consoleVersion: version, console: files } = await loadBundles();
    const sizeOf = async (name: string): Promise<number> => {
      const asBrowser = { headers: { "Accept-Encoding": "gzip, deflate, br, zstd" } };
      const { headers } = await fetch(`${server.url}/console/assets/${version}/${name}`, asBrowser);
      const isSmall = (files.get(name)?.body.length ?? 0) <= 1_024;
      expect(headers.get("content-encoding"), name).to.equal(isSmall ? null : "br");
      return Number(headers.get("content-length"));
    };
    const sizeOfAll = async (names: Iterable<string>): Promise<number> =>
      (await Promise.all(Array.from(names, sizeOf))).reduce((sum, size) => sum + size, 0);
    const loaded = new Set<string>();
    const load = (name: string): void => {
      if (loaded.has(name)) return;
      loaded.add(name);
      const text = files.get(name)?.body.toString() ?? "";
      for (const [, imported = ""] of text.matchAll(/(?:from|import)"\.\/([\w-]+\.js)"/g)) load(imported);
    };
    load("console.js");
    expect(await sizeOfAll(loaded)).to.be.within(10_000, 49_999);
    const scripts = [...files.keys()].filter((name) => name.endsWith(".js"));
    expect(await sizeOfAll(scripts)).to.be.within(40_000, 119_999);
  });

  it("has a script that neither evaluates text nor sets markup", async () => {
    const { console: files } = await loadBundles();
    for (const [name, { body }] of files) {
      expect(body.toString(), name).to.not.match(/\beval\(|new Function\(|\.insertAdjacentHTML\(/);
    }
  });
});
