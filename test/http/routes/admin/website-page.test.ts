import type { IncomingMessage, ServerResponse } from "node:http";
import { expect } from "chai";
import { pino } from "pino";
import {
  createReadWebsitePage,
  type ReadWebsitePage,
} from "../../../../src/application/accounts/website-page.ts";
import { openRequestPage } from "../../../../src/bootstrap/website-servers.ts";
import { admin, registerWebsite } from "../../../support/client.ts";
import { duringSuite } from "../../../support/during.ts";
import { ask, startInProcessService } from "../../../support/in-process-service.ts";
import { serveLocally } from "../../../support/local-server.ts";
import { createManualTime } from "../../../support/manual-time.ts";
import { rejection } from "../../../support/rejection.ts";
import { adminToken } from "../../../support/service.ts";

const auditorToken = "auditor-token-0123456789";
const silent = pino({ level: "silent" });
const html = { "Content-Type": "text/html; charset=utf-8" };

describe("a page of a website, for a preview", () => {
  const service = duringSuite(() =>
    startInProcessService({ ALLOW_LOOPBACK_UPSTREAMS: "true", AUDITOR_TOKEN: auditorToken }),
  );
  const website = duringSuite(() => registerWebsite(service.url));
  let requested: IncomingMessage[];
  let respond: (res: ServerResponse, req: IncomingMessage) => void;
  const site = duringSuite(() =>
    serveLocally((req, res) => {
      requested.push(req);
      respond(res, req);
    }),
  );
  const elsewhere = duringSuite(() => serveLocally((_req, res) => res.writeHead(200, html).end("elsewhere")));

  before(() => admin(service.url, "PUT", `/websites/${website.id}/origins`, { origins: [site.url] }));
  beforeEach(() => {
    requested = [];
    respond = (res) => res.writeHead(200, html).end("<p>Zürich</p>");
  });

  const read = async (url: string, token = adminToken, id = website.id) => {
    const path = `/admin/websites/${id}/page?url=${encodeURIComponent(url)}`;
    const { status, text, headers } = await ask(service.url + path, {
      headers: { Authorization: `Bearer ${token}` },
    });
    return { status, headers, body: JSON.parse(text) };
  };
  const refusal = async (url = site.url) => {
    const { status, body } = await read(url);
    return [status, body.error.message];
  };

  it("is read by operators and auditors, without credentials or a cache", async () => {
    for (const token of [adminToken, auditorToken]) {
      const { status, headers, body } = await read(`${site.url}/news?page=2`, token);
      expect([status, body]).to.deep.equal([200, { url: `${site.url}/news?page=2`, html: "<p>Zürich</p>" }]);
      expect(headers["cache-control"]).to.equal("no-store");
    }
    expect(requested.map(({ url }) => url)).to.deep.equal(["/news?page=2", "/news?page=2"]);
    expect(requested[0]?.headers).to.not.have.any.keys("authorization", "cookie", "referer");
  });

  it("is decoded as its mark, its header or its document says", async () => {
    const declared = '<!doctype html><meta charset="iso-8859-1"><p>Z\u00fcrich</p>';
    respond = (res) => res.writeHead(200, { "Content-Type": "text/html" }).end(declared, "latin1");
    expect((await read(site.url)).body.html).to.include("Zürich");
    respond = (res) => res.writeHead(200, html).end(declared, "utf8");
    expect((await read(site.url)).body.html).to.include("Zürich");
    respond = (res) => res.writeHead(200, { "Content-Type": "text/html" }).end(`\ufeff${declared}`, "utf8");
    expect((await read(site.url)).body.html).to.include("Zürich");
    respond = (res) =>
      res.writeHead(200, { "Content-Type": "text/html; charset=martian" }).end("<p>Zürich</p>");
    expect((await read(site.url)).body.html).to.include("Zürich");
  });

  it("is decoded as browsers do", async () => {
    const decoded = async (bytes: Buffer, contentType = "text/html"): Promise<string> => {
      respond = (res) => res.writeHead(200, { "Content-Type": contentType }).end(bytes);
      return (await read(site.url)).body.html;
    };
    const utf16 = Buffer.from("\ufeff<p>Zürich</p>", "utf16le");
    expect(await decoded(utf16, "text/html; charset=utf-8")).to.equal("<p>Zürich</p>");
    expect(await decoded(Buffer.from(utf16).swap16())).to.equal("<p>Zürich</p>");
    expect(await decoded(Buffer.from("<p>Zürich</p>", "latin1"))).to.equal("<p>Zürich</p>");
    expect(await decoded(Buffer.from("<p>Zürich, cut off: ü").subarray(0, -1))).to.include("Zürich");
    for (const declaration of ["<meta charset=utf-16>", "<!-- <meta charset=latin1> --><meta charset=utf-8>"])
      expect(await decoded(Buffer.from(`${declaration}<p>Zürich</p>`)), declaration).to.include("Zürich");
    const japanese = Buffer.concat([Buffer.from("<meta charset=Shift_JIS>"), Buffer.from([0x93, 0xfa])]);
    expect(await decoded(japanese)).to.include("日");
  });

  it("may end with its connection", async () => {
    respond = (res) => {
      res.removeHeader("Transfer-Encoding");
      res.useChunkedEncodingByDefault = false;
      res.writeHead(200, html);
      res.end("<p>Old server</p>");
    };
    expect((await read(site.url)).body.html).to.equal("<p>Old server</p>");
  });

  it("is requested only from verified origins of that website", async () => {
    const [status, message] = await refusal(`${elsewhere.url}/news`);
    expect(status).to.equal(400);
    expect(message).to.equal(`url: ${elsewhere.url} is not a verified origin of this website (${site.url}).`);
    for (const url of ["news", "file:///etc/passwd", site.url.replace("http:", "https:")])
      expect((await refusal(url))[0], url).to.equal(400);
    const other = await registerWebsite(service.url);
    expect((await read(site.url, adminToken, other.id)).status).to.equal(400);
    expect((await read(site.url, adminToken, "web_unknown")).status).to.equal(404);
    expect(requested).to.deep.equal([]);
  });

  it("is found through redirects within verified origins, and no others", async () => {
    respond = (res, { url }) =>
      url === "/new" ? res.writeHead(200, html).end("new") : res.writeHead(301, { Location: "/new" }).end();
    expect((await read(`${site.url}/old`)).body).to.deep.equal({ url: `${site.url}/new`, html: "new" });
    respond = (res) => res.writeHead(302, { Location: `${elsewhere.url}/` }).end();
    expect(await refusal()).to.deep.equal([
      502,
      `The page cannot be read: it redirects to ${elsewhere.url}, which is not a verified origin.`,
    ]);
    respond = (res) => res.writeHead(302, { Location: "javascript:alert(1)" }).end();
    expect((await refusal())[1]).to.include("redirects to javascript:, which is not");
    respond = (res) => res.writeHead(302).end();
    expect((await refusal())[1]).to.include("responded with HTTP 302");
    respond = (res) => res.writeHead(307, { Location: "/again" }).end();
    expect(await refusal()).to.deep.equal([502, "The page cannot be read: it redirects more than 5 times."]);
  });

  it("is refused if it is not HTML, too large, compressed or an error", async () => {
    respond = (res) => res.writeHead(200, { "Content-Type": "application/json" }).end("{}");
    expect(await refusal()).to.deep.equal([502, "The page cannot be read: it is not text/html."]);
    respond = (res) => res.writeHead(200, html).end("x".repeat(2 * 1024 * 1024 + 1));
    expect(await refusal()).to.deep.equal([502, "The page cannot be read: it is larger than 2097152 bytes."]);
    respond = (res) => res.writeHead(200, { ...html, "Content-Encoding": "gzip" }).end("zip");
    expect((await refusal())[1]).to.include("compresses it");
    respond = (res) => res.writeHead(404, html).end("missing");
    expect(await refusal()).to.deep.equal([
      502,
      "The page cannot be read: the website responded with HTTP 404.",
    ]);
    respond = (res) => res.destroy();
    expect((await refusal())[1]).to.include("cannot be reached or does not respond completely");
  });

  describe("read by the parts of the service", () => {
    const options = {
      websites: { get: () => ({ origins: [site.url] }) as never },
      requestPage: openRequestPage({ allowLoopback: true, networks: [] }, silent),
    };
    const never = new AbortController().signal;
    const refusalBy = async (readPage: ReadWebsitePage): Promise<string> =>
      String(await rejection(readPage("web_1", site.url, never)));

    it("is refused if its address is on this machine and that is not allowed", async () => {
      const requestPage = openRequestPage({ allowLoopback: false, networks: [] }, silent);
      const readPage = createReadWebsitePage({ ...options, requestPage });
      expect(await refusalBy(readPage)).to.match(/its address is not allowed/);
      expect(requested).to.deep.equal([]);
    });

    it("must arrive within ten seconds, and at most four are read at once", async () => {
      const time = createManualTime();
      const arrived = Promise.withResolvers<void>();
      respond = () => requested.length === 4 && arrived.resolve();
      const readPage = createReadWebsitePage({ ...options, time });
      const reading = Array.from({ length: 4 }, () => refusalBy(readPage));
      await arrived.promise;
      expect(await refusalBy(readPage)).to.equal("Unavailable: Too many requests are in progress.");
      time.advance(10_000);
      for (const refusal of await Promise.all(reading)) expect(refusal).to.match(/longer than 10 seconds\.$/);
      respond = (res) => res.writeHead(200, html).end("again");
      expect(await readPage("web_1", site.url, never)).to.include({ html: "again" });
    });
  });
});
