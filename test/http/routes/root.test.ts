import { expect } from "chai";
import { rootOperation } from "../../../src/http/routes/docs/root.ts";
import { type OperationServer, serveOperations } from "../../support/operation-server.ts";

const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

describe("GET /", () => {
  let server: OperationServer;
  before(async () => {
    server = await serveOperations([rootOperation({ publicUrl: undefined })]);
  });
  after(() => server.close());

  const get = async (accept: string) => {
    const response = await fetch(`${server.url}/`, { headers: { Accept: accept } });
    return { response, text: await response.text() };
  };

  it("sends browsers a page with links to the documentation, the OpenAPI document and the health check", async () => {
    const { response, text } = await get(browser);
    expect(response.status).to.equal(200);
    expect(response.headers.get("content-type")).to.equal("text/html; charset=utf-8");
    const links = [...text.matchAll(/<a href="([^"]+)"/g)].map(([, href = ""]) => href);
    expect(links).to.include.members(["docs", "openapi.json", "health"]);
  });

  it("sends a page that loads nothing and runs no script", async () => {
    const { response, text } = await get(browser);
    expect(text).to.not.match(/<script|src=|url\(|https?:/);
    const policy = response.headers.get("content-security-policy");
    expect(policy).to.match(/^default-src 'none'; style-src 'sha256-[^']+'; /);
    expect(policy).to.not.include("unsafe");
  });

  for (const accept of ["application/json", "*/*", "image/png"]) {
    it(`sends the same links as JSON to a client that accepts ${accept}`, async () => {
      const { response, text } = await get(accept);
      expect(response.headers.get("content-type")).to.equal("application/json; charset=utf-8");
      expect(response.headers.get("vary")).to.equal("Accept");
      expect(JSON.parse(text)).to.deep.equal({
        name: "Voxledger",
        _links: {
          docs: { href: "docs" },
          openapi: { href: "openapi.json" },
          health: { href: "health" },
          client: { href: "client.js" },
        },
      });
    });
  }

  it("links under the path of PUBLIC_URL", async () => {
    const prefixed = await serveOperations([rootOperation({ publicUrl: "https://speech.example/tts" })]);
    const response = await fetch(`${prefixed.url}/`);
    expect(await response.json()).to.have.nested.property("_links.docs.href", "/tts/docs");
    await prefixed.close();
  });
});
