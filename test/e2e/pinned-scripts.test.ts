import { execFile } from "node:child_process";
import { hash } from "node:crypto";
import { cp, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import type { Page } from "playwright-core";
import type { PageTags } from "../../src/cli/page-tags.ts";
import { openBrowser } from "../support/browser.ts";
import { admin, type Credentials, registerWebsite } from "../support/client.ts";
import { duringSuite } from "../support/during.ts";
import { type LocalServer, serveLocally } from "../support/local-server.ts";
import { deployment, startService, temporaryFolder } from "../support/service.ts";
import { article, player, playerConfig, players } from "./web-features/article.ts";

const root = resolve(import.meta.dirname, "../..");

/** The programs of an earlier release, whose player's module has another text. */
const writeEarlierRelease = async (folder: string): Promise<void> => {
  for (const name of ["src", "projections", "package.json", "scripts"]) {
    await cp(join(root, name), join(folder, name), { recursive: true });
  }
  const packages = join(folder, "node_modules"); // with kept bundles of its own
  await mkdir(packages);
  for (const name of await readdir(join(root, "node_modules"))) {
    if (name !== ".cache") await symlink(join(root, "node_modules", name), join(packages, name));
  }
  const module = join(folder, "src/client/page/player.ts");
  await writeFile(module, `${await readFile(module, "utf8")}console.info("the earlier release");\n`);
};

const sourcesIn = (html: string): string[] =>
  [...html.matchAll(/(?:src=|")"?(https?:[^"]*\.js)"/g)].map(([, url = ""]) => url);

(deployment === "embedded" ? describe : describe.skip)("the permanent addresses of scripts", () => {
  const folder = duringSuite(temporaryFolder);
  const earlier = duringSuite(temporaryFolder);
  const service = duringSuite(() => startService(folder.path));
  const browser = duringSuite(openBrowser);
  let website: Credentials;
  let site: LocalServer;
  let tags: PageTags;
  let html = "";
  let scriptSrc = "";

  /** Runs `website tag` as a process of this release, or of the one in another folder. */
  const printTags = async (checkout = root): Promise<PageTags> => {
    const args = ["--json", "website", "tag", website.id, "--url", service.url];
    const env = { ...process.env, DATA_DIR: folder.path };
    const { stdout } = await promisify(execFile)(join(checkout, "scripts/voxledger"), args, { env });
    return JSON.parse(stdout);
  };

  before(async () => {
    website = await registerWebsite(service.url);
    await admin(service.url, "PUT", `/websites/${website.id}/config`, playerConfig());
    site = await serveLocally((_req, res) => {
      const policy = `default-src 'none'; script-src ${service.url} ${scriptSrc}; connect-src ${service.url}; media-src blob:; img-src data:`;
      res.writeHead(200, { "Content-Type": "text/html", "Content-Security-Policy": policy }).end(html);
    });
    await admin(service.url, "PUT", `/websites/${website.id}/origins`, { origins: [site.url] });
    tags = await printTags();
  });
  after(() => site.close());
  afterEach(() => browser.closePages());

  /**
   * Opens an article with these tags. `scriptHash`: what its policy allows besides the service.
   * `alter` adds a byte to the script of this name.
   */
  const open = async (
    head: string,
    { scriptHash = tags.scriptSrc, alter }: { scriptHash?: string; alter?: string } = {},
  ): Promise<{ page: Page; complaints: string[] }> => {
    html = `<!doctype html><html lang="en"><meta charset="utf-8"><link rel="icon" href="data:,">${head}${article}`;
    scriptSrc = scriptHash;
    const page = await browser.context.newPage();
    const complaints: string[] = [];
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    if (alter !== undefined) {
      await page.route(`${service.url}/v/*/${alter}`, async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, body: `${await response.text()}\n` });
      });
    }
    await page.goto(site.url);
    return { page, complaints };
  };

  it("are immutable, for pages of every origin, and name the integrity of each script", async () => {
    const urls = [...sourcesIn(tags.pinned), ...sourcesIn(tags.pinnedScript)];
    const names = urls.map((url) => url.split("/").at(-1));
    expect(names.toSorted()).to.include.members([
      "client.js",
      "player-features.js",
      "player.js",
      "voxledger.js",
    ]);
    for (const url of urls) {
      const response = await fetch(url, { headers: { Origin: "https://anywhere.example" } });
      expect(Object.fromEntries(response.headers), url).to.include({
        "content-type": "text/javascript; charset=utf-8",
        "cache-control": "public, max-age=31536000, immutable",
        "access-control-allow-origin": "*",
        "cross-origin-resource-policy": "cross-origin",
        "x-content-type-options": "nosniff",
      });
      const body = Buffer.from(await response.arrayBuffer());
      expect(tags.pinned + tags.pinnedScript).to.include(`sha384-${hash("sha384", body, "base64")}`);
      const headers = { "If-None-Match": response.headers.get("etag") ?? "" };
      expect((await fetch(url, { headers })).status).to.equal(304);
      expect((await fetch(url, { method: "HEAD" })).headers.get("etag")).to.equal(
        response.headers.get("etag"),
      );
    }
  });

  it("do not exist for other hashes and names, which no cache keeps", async () => {
    const [url = ""] = sourcesIn(tags.pinnedScript);
    const known = url.replace("/voxledger.js", "");
    for (const path of [
      `${service.url}/v/${"0".repeat(64)}/player.js`,
      `${service.url}/v/x/player.js`,
      `${known}/main.js`,
      `${known}/__proto__`,
      `${known}/..%2Fclient.js`,
      `${known}/toString`,
    ]) {
      const response = await fetch(path);
      expect(response.status, path).to.equal(404);
      expect(response.headers.get("cache-control"), path).to.equal("no-store");
    }
  });

  it("show the player with the tags that the command line prints, under a policy that names only the service", async () => {
    for (const head of [tags.tag, tags.pinned, tags.pinnedScript]) {
      const { page, complaints } = await open(head);
      await player(page);
      expect(complaints, head).to.deep.equal([]);
      const link = await players(page).locator("a.powered").getAttribute("href");
      expect(link, head).to.equal(`${service.url}/`);
    }
  });

  for (const [name, tag] of [
    ["player.js", "pinned"],
    ["client.js", "pinned"],
    ["player-features.js", "pinned"],
    ["voxledger.js", "pinnedScript"],
  ] as const) {
    it(`show nothing if a byte of ${name} has changed`, async () => {
      const { page, complaints } = await open(tags[tag], { alter: name });
      while (!complaints.some((text) => text.includes("integrity"))) await page.waitForEvent("console");
      expect(await page.locator("voxledger-player").count()).to.equal(0);
    });
  }

  it("are served by every later release, with all scripts of their own release", async () => {
    await writeEarlierRelease(earlier.path);
    const earlierTags = await printTags(earlier.path);
    expect(earlierTags.pinned).to.not.equal(tags.pinned);
    const { page, complaints } = await open(earlierTags.pinned, { scriptHash: earlierTags.scriptSrc });
    const announced = page.waitForEvent("console", (message) => message.text() === "the earlier release");
    await page.reload();
    await announced;
    await player(page);
    expect(complaints).to.deep.equal([]);
  });
});
