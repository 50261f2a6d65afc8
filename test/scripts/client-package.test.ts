import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import esbuild from "esbuild";
import type { Page } from "playwright-core";
import { build as viteBuild } from "vite";
import webpack from "webpack";
import packageJson from "../../package.json" with { type: "json" };
import { article, first, heading, playButton, players } from "../e2e/web-features/article.ts";
import { openFeatureSite } from "../support/client-library/feature-page.ts";
import { installPackage } from "../support/client-library/installed-package.ts";
import { duringSuite } from "../support/during.ts";
import { serveLocally } from "../support/local-server.ts";
import { rejection } from "../support/rejection.ts";

const root = join(import.meta.dirname, "../..");
const typescript = join(root, "node_modules/typescript/bin/tsc");

const entries = ["", "/player", "/element", "/react", "/vue"].map((entry) => `@voxledger/client${entry}`);

/** What a developer writes who uses the library's types. */
const typedPage = `
import { Voxledger, VoxledgerError, type Voice, type WebPlayerFeature, type WebsiteConfig } from "@voxledger/client";
import { startPage } from "@voxledger/client/player";
import "@voxledger/client/element";

const voxledger = new Voxledger({ apiKey: "vlk_", baseUrl: "https://tts.example.com" });
const stop: () => void = await startPage(voxledger);
const config: WebsiteConfig = await voxledger.config();
const player: WebPlayerFeature = config.features.webPlayer;
export const rate: number | undefined = player.rate;
export const theme: string = typeof player.theme === "string" ? player.theme : (player.theme.bg ?? "");
export const voices: readonly Voice[] = (await voxledger.voices()).voices;
voxledger.on("OnError", ({ message, code }) => console.warn(message, code?.toUpperCase()));
voxledger.speak("Hello.", { rate: 1.1 }).catch((error) => error instanceof VoxledgerError && error.status);
document.addEventListener("voxledger:end", ({ detail }) => console.log(detail.completed ? detail.seconds : 0));
document.querySelector("voxledger-player")?.player?.setSpeed(1.5);
// @ts-expect-error: no such detail
document.addEventListener("voxledger:start", ({ detail }) => detail.completed);
// @ts-expect-error: no such option
new Voxledger({ key: "vlk_" });
// @ts-expect-error: no such member
config.features.nothing;
stop();
`;

const reactApp = (apiKey: string, baseUrl: string) => `
import { useVoxledger, VoxledgerPlayer } from "@voxledger/client/react";
import { createElement as h, StrictMode } from "react";
import { createRoot } from "react-dom/client";

const options = { apiKey: ${JSON.stringify(apiKey)}, baseUrl: ${JSON.stringify(baseUrl)} };
const Page = () => {
  const { speak, status } = useVoxledger(options);
  return h("main", null,
    h("article", null, h(VoxledgerPlayer, options), h("h2", null, "${heading}"), h("p", null, "${first}")),
    h("button", { id: "speak", onClick: () => void speak("From React.") }, status));
};
createRoot(document.querySelector("#app")).render(h(StrictMode, null, h(Page)));
`;

/** A page that a server has rendered. `hydrate` adopts its elements. */
const hydratedApp = (apiKey: string, baseUrl: string) => `
import "@voxledger/client/element";
import { VoxledgerPlayer } from "@voxledger/client/react";
import { createElement as h, useEffect } from "react";
import { hydrateRoot } from "react-dom/client";

const options = { apiKey: ${JSON.stringify(apiKey)}, baseUrl: ${JSON.stringify(baseUrl)} };
const Page = () => {
  useEffect(() => { document.querySelector("#app").id = "hydrated"; }, []);
  return h("article", null, h(VoxledgerPlayer, options), h("p", null, "${first}"));
};
globalThis.hydrate = () => {
  hydrateRoot(document.querySelector("#app"), h(Page), { onRecoverableError: reportError });
};
`;

const vueApp = (apiKey: string, baseUrl: string) => `
import { useVoxledger, VoxledgerPlayer } from "@voxledger/client/vue";
import { createApp, h } from "vue";

const options = { apiKey: ${JSON.stringify(apiKey)}, baseUrl: ${JSON.stringify(baseUrl)} };
createApp({
  setup: () => {
    const { speak, status } = useVoxledger(options);
    return () => h("main", [
      h("article", [h(VoxledgerPlayer, options), h("h2", "${heading}"), h("p", "${first}")]),
      h("button", { id: "speak", onClick: () => void speak("From Vue.") }, status.value),
    ]);
  },
}).mount("#app");
`;

/** Each bundler writes an app's scripts into `out`, the first one as `app.js`. */
const bundlers: Readonly<Record<string, (app: string, out: string) => Promise<unknown>>> = {
  vite: (app, out) =>
    viteBuild({
      root: join(app, ".."),
      configFile: false,
      logLevel: "error",
      // Otherwise Vite reads the variable, which in tests is not \`production\`.
      mode: "production",
      define: { "process.env.NODE_ENV": '"production"' },
      build: {
        outDir: out,
        rollupOptions: { input: app, output: { entryFileNames: "app.js" } },
      },
    }),
  webpack: (app, out) =>
    new Promise<void>((resolve, reject) => {
      const output = { path: out, filename: "app.js", publicPath: "/", trustedTypes: "webpack" };
      const configuration: webpack.Configuration = {
        mode: "production",
        entry: app,
        output,
        performance: false,
      };
      webpack(configuration, (error, stats) => {
        if (error) return reject(error);
        if (stats?.hasErrors() || stats?.hasWarnings()) return reject(new Error(stats.toString()));
        resolve();
      });
    }),
  esbuild: async (app, out) => {
    const { warnings } = await esbuild.build({
      entryPoints: { app },
      outdir: out,
      bundle: true,
      format: "esm",
      splitting: true,
      define: { "process.env.NODE_ENV": '"production"' },
    });
    expect(warnings).to.deep.equal([]);
  },
};

describe("the package @voxledger/client", () => {
  const project = duringSuite(installPackage);
  const site = duringSuite(openFeatureSite);
  const frameworks = ["react", "react-dom", "vue", "@vue/server-renderer"];
  before(() => project.link(...frameworks, "@types/react"));
  const installed = (...path: string[]) => join(project.folder, "node_modules/@voxledger/client", ...path);

  it("has less than 200 KB, and this version, licence and description", async () => {
    expect(project.packedBytes).to.be.below(200_000);
    const manifest = JSON.parse(await readFile(installed("package.json"), "utf8"));
    expect(manifest).to.include({ version: packageJson.version, license: packageJson.license });
    expect(manifest).to.not.have.any.keys("private", "dependencies", "scripts");
    const files = await readdir(installed());
    expect(files).to.include.members(["README.md", "LICENSE", "voxledger.iife.js"]);
  });

  it("can be published to a registry of one's own from any machine", async () => {
    const requested: string[] = [];
    const registry = await serveLocally((req, res) => {
      requested.push(`${req.method} ${decodeURIComponent(req.url ?? "")}`);
      req.resume().on("end", () => res.writeHead(req.method === "PUT" ? 201 : 404).end("{}"));
    });
    const options = ["--registry", registry.url, `--${registry.url.slice("http:".length)}/:_authToken=a`];
    const env = { PATH: process.env.PATH, HOME: project.folder }; // without the variables of CI services
    await promisify(execFile)("npm", ["publish", installed(), ...options], { env });
    await registry.close();
    expect(requested).to.include("PUT /@voxledger/client");
  });

  it("names the repository that publishes it, and asks for its provenance, if it is built with one", async () => {
    const out = join(project.folder, "other");
    const repository = "git+https://git.example.com/voxledger.git";
    await promisify(execFile)(join(root, "scripts/client-package"), [out, repository]);
    const manifest = JSON.parse(await readFile(join(out, "package.json"), "utf8"));
    expect(manifest.repository).to.include({ type: "git", url: repository });
    expect(manifest.publishConfig).to.include({ provenance: true });
  });

  it("is never built into a folder that has files", async () => {
    const error = await rejection(
      promisify(execFile)(join(root, "scripts/client-package"), [project.folder]),
    );
    expect(String(error)).to.include("is not empty");
  });

  it("has types without those of the service or of zod", async () => {
    const files = await readdir(installed("types"), { recursive: true, withFileTypes: true });
    for (const file of files.filter((entry) => entry.isFile())) {
      const text = await readFile(join(file.parentPath, file.name), "utf8");
      const imported = [...text.matchAll(/^(?:import|export) [^;]*from "([^.][^"]*)"/gm)].map(
        ([, name]) => name,
      );
      expect(imported, file.name).to.satisfy((names: string[]) =>
        names.every((name) => ["react", "vue"].includes(name)),
      );
      expect(text, file.name).to.not.match(/\/(?:domain|http)\//);
      expect(text, file.name).to.not.match(/class (?!Voxledger)/); // how a page is read concerns no caller
    }
  });

  for (const [module, moduleResolution] of [
    ["node16", "node16"],
    ["esnext", "bundler"],
  ] as const) {
    it(`compiles with tsc in a project for es2022 with the module resolution ${moduleResolution}`, async () => {
      await project.write("page.ts", typedPage);
      const rendered = /import .*react-dom.*\n|createRoot.*/g; // types of react-dom are not installed
      const inReact = reactApp("vlk_", "https://tts.example.com").replaceAll(rendered, "");
      await project.write("react.ts", `${inReact}export { Page };`);
      await project.write("vue.ts", vueApp("vlk_", "https://tts.example.com"));
      const compilerOptions = {
        ...{ target: "es2022", lib: ["es2022", "dom", "dom.iterable"], module, moduleResolution },
        ...{ strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true, types: [] },
      };
      await project.write(
        "tsconfig.json",
        JSON.stringify({ compilerOptions, files: ["page.ts", "react.ts", "vue.ts"] }),
      );
      await project.node(typescript, "-p", ".").catch(({ stdout }) => expect.fail(stdout));
    });
  }

  it("has a README whose examples can be built", async () => {
    const readme = await readFile(installed("README.md"), "utf8");
    const examples = [...readme.matchAll(/^```jsx?\n(.*?)^```/gms)].map(([, example = ""]) => example);
    expect(examples).to.have.length(4);
    for (const contents of examples) {
      const { warnings } = await esbuild.build({
        stdin: { contents, loader: "jsx", resolveDir: project.folder },
        ...{ bundle: true, write: false, format: "esm", target: "es2022", jsx: "automatic" },
      });
      expect(warnings).to.deep.equal([]);
    }
  });

  it("can be imported on a server, where the components render their element", async () => {
    await project.write(
      "server.mjs",
      `
      const names = ${JSON.stringify(entries)};
      for (const name of names) await import(name);
      const { Voxledger } = await import("@voxledger/client");
      try { new Voxledger({ apiKey: "vlk_" }); } catch (error) { console.log(error.name + ": " + error.message); }
      const options = { apiKey: "vlk_", baseUrl: "https://tts.example.com", preferNative: true, debug: false };
      const react = await import("react");
      const { renderToString } = await import("react-dom/server");
      const inReact = await import("@voxledger/client/react");
      console.log(renderToString(react.createElement(() => {
        inReact.useVoxledger(options);
        return react.createElement(inReact.VoxledgerPlayer, options);
      })));
      const vue = await import("vue");
      const inVue = await import("@voxledger/client/vue");
      const { renderToString: renderVue } = await import("@vue/server-renderer");
      console.log(await renderVue(vue.createSSRApp({ setup: () => {
        inVue.useVoxledger(options);
        return () => vue.h(inVue.VoxledgerPlayer, options);
      } })));
      `,
    );
    const { stdout, stderr } = await project.node("server.mjs");
    const element =
      '<voxledger-listen api-key="vlk_" base-url="https://tts.example.com" prefer-native=""></voxledger-listen>';
    const [refusal, inReact, inVue] = stdout.trim().split("\n");
    expect(refusal).to.match(/^TypeError: baseUrl is required/);
    expect(inReact).to.equal(element);
    expect(inVue).to.equal(element.replace('=""', ""));
    expect(stderr).to.equal("");
  });

  /** Opens a page of a site that has these files, on a verified origin of the website. */
  const openSite = async (html: string, folder: string): Promise<Page> => {
    const { service, browser } = site;
    const policy = `default-src 'none'; script-src 'self'; connect-src ${service.url}; media-src blob:; img-src data:; require-trusted-types-for 'script'`;
    const served = await serveLocally(async (req, res) => {
      const script = req.url === "/" ? undefined : await readFile(join(folder, req.url ?? ""));
      res
        .writeHead(200, {
          "Content-Type": script ? "text/javascript" : "text/html",
          "Content-Security-Policy": policy,
        })
        .end(script ?? `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">${html}`);
    });
    const page = await browser.context.newPage();
    page.on("close", () => void served.close());
    await site.allow(served.url);
    await page.goto(served.url);
    return page;
  };

  for (const [bundler, bundle] of Object.entries(bundlers)) {
    for (const [framework, app] of [
      ["React", reactApp],
      ["Vue", vueApp],
    ] as const) {
      it(`shows a player and speaks in a page with ${framework} that ${bundler} has built`, async () => {
        const name = `${bundler}-${framework}`;
        const source = await project.write(`${name}/app.js`, app(site.website.apiKey, site.service.url));
        const out = join(project.folder, name, "out");
        await bundle(source, out);
        const page = await openSite('<div id="app"></div><script type="module" src="/app.js"></script>', out);
        const errors: string[] = [];
        page.on("pageerror", ({ message }) => errors.push(message));
        await playButton(page.locator("article voxledger-listen > voxledger-player")).waitFor();
        const button = page.locator("#speak");
        const spoken = page.waitForRequest((request) => request.url().includes(`From+${framework}`));
        await button.click();
        await spoken;
        await page.locator("#speak", { hasText: "speaking" }).waitFor();
        await page.locator("#speak", { hasText: "idle" }).waitFor();
        expect(await players(page).count()).to.equal(1);
        expect(errors).to.deep.equal([]);
        const loaded = 'performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname)';
        const paths: string[] = await page.evaluate(loaded);
        expect(paths.filter((path) => path === "/v2/config")).to.have.length(1); // one client for both
        await page.close();
      });
    }
  }

  it("keeps a player that is shown before React hydrates the page that a server has rendered", async () => {
    const { apiKey } = site.website;
    const source = await project.write("hydrated/app.js", hydratedApp(apiKey, site.service.url));
    const out = join(project.folder, "hydrated/out");
    await bundlers.esbuild?.(source, out);
    const element = `<voxledger-listen api-key="${apiKey}" base-url="${site.service.url}"></voxledger-listen>`;
    const rendered = `<div id="app"><article>${element}<p>${first}</p></article></div>`;
    const page = await openSite(`${rendered}<script type="module" src="/app.js"></script>`, out);
    const errors: string[] = [];
    page.on("pageerror", ({ message }) => errors.push(message));
    const shown = playButton(page.locator("article > voxledger-listen > voxledger-player"));
    const before = await shown.elementHandle();
    await page.evaluate("hydrate()");
    await page.locator("#hydrated").waitFor();
    expect(await before?.evaluate((button) => button.isConnected)).to.equal(true);
    expect(errors).to.deep.equal([]);
    await page.close();
  });

  it("defines a global and the element in a page without modules, whose own server sends the script", async () => {
    const { apiKey } = site.website;
    const element = `<voxledger-listen api-key="${apiKey}" base-url="${site.service.url}"></voxledger-listen>`;
    const html = `<script src="/voxledger.iife.js"></script>${article.replace("<article>", `<article>${element}`)}`;
    const page = await openSite(html, installed());
    await playButton(page.locator("article > voxledger-listen > voxledger-player")).waitFor();
    const refusal = await page.evaluate(
      `try { new Voxledger({ apiKey: "vlk_" }); } catch (error) { String(error) }`,
    );
    expect(refusal).to.match(/^TypeError: baseUrl is required/);
    await page.close();
  });
});
