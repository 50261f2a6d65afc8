import { expect } from "chai";
import { Unavailable } from "../../../src/domain/errors.ts";
import { rootOperation } from "../../../src/http/routes/docs/root.ts";
import { duringSuite } from "../../support/during.ts";
import { serveOperations } from "../../support/operation-server.ts";

const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

describe("GET /", () => {
  const server = duringSuite(() =>
    serveOperations([rootOperation({ settings: { publicUrl: undefined }, gallery: undefined })]),
  );

  const get = async (accept: string) => {
    const response = await fetch(`${server.url}/`, { headers: { Accept: accept } });
    return { response, text: await response.text() };
  };

  it("sends browsers a page with links to the documentation, the OpenAPI document, the health check and the console", async () => {
    const { response, text } = await get(browser);
    expect(response.status).to.equal(200);
    expect(response.headers.get("content-type")).to.equal("text/html; charset=utf-8");
    const links = [...text.matchAll(/<a href="([^"]+)"/g)].map(([, href = ""]) => href);
    expect(links).to.include.members(["docs", "openapi.json", "health", "console"]);
  });

  it("sends a page without inline scripts or styles, and without credentials, that loads only its own files", async () => {
    const { response, text } = await get(browser);
    const loaded = [...text.matchAll(/<(?:script|link)[^>]*(?:src|href)="([^"]*)"/g)].map(([, url]) => url);
    expect(loaded).to.have.length(3);
    for (const url of loaded)
      expect(url).to.match(/^(data:,|docs\/assets\/[0-9a-f]{16}\/landing\.(css|js))$/);
    expect(text).to.not.match(/<style|style=|<script>|\son\w+=|https?:|vlk_\w/);
    const policy = response.headers.get("content-security-policy");
    expect(policy).to.match(/^default-src 'none'; script-src 'self'; style-src 'self'; /);
    expect(policy).to.include("form-action 'none'").and.not.include("unsafe");
  });

  for (const accept of ["application/json", "*/*", "image/png"]) {
    it(`sends the same links as JSON to a client that accepts ${accept}`, async () => {
      const { response, text } = await get(accept);
      expect(response.headers.get("content-type")).to.equal("application/json; charset=utf-8");
      expect(response.headers.get("vary")).to.equal("Accept");
      expect(JSON.parse(text)).to.deep.equal({
        name: "Voxledger",
        _links: {
          reproduce: { href: "reproduce" },
          docs: { href: "docs" },
          openapi: { href: "openapi.json" },
          health: { href: "health" },
          console: { href: "console" },
          client: { href: "client.js" },
        },
      });
    });
  }

  it("lets every cache ask before each use, because the page lists the voices", async () => {
    const { response } = await get(browser);
    expect(response.headers.get("cache-control")).to.equal("public, no-cache");
    const tag = response.headers.get("etag") ?? "";
    const again = await fetch(`${server.url}/`, { headers: { Accept: browser, "If-None-Match": tag } });
    expect(again.status).to.equal(304);
  });

  it("sends the page with a field for the voice's name while the catalog cannot be read", async () => {
    const voices = () => {
      throw new Unavailable("The view catalog is out of date.", 1);
    };
    const stale = await serveOperations([
      rootOperation({ settings: { publicUrl: undefined }, gallery: { voices } }),
    ]);
    try {
      const response = await fetch(stale.url, { headers: { Accept: browser } });
      expect(response.status).to.equal(200);
      expect(await response.text()).to.include('<input name="voice"');
    } finally {
      await stale.close();
    }
  });

  it("links under the path of PUBLIC_URL", async () => {
    const prefixed = await serveOperations([
      rootOperation({ settings: { publicUrl: "https://speech.example/tts" }, gallery: undefined }),
    ]);
    const response = await fetch(`${prefixed.url}/`);
    expect(await response.json()).to.have.nested.property("_links.docs.href", "/tts/docs");
    await prefixed.close();
  });
});
