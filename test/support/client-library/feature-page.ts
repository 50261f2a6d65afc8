import type { Page, Request } from "playwright-core";
import type { StoredConfig } from "../../../src/domain/accounts/website-config.ts";
import { type Browser, openBrowser, tenTimesASecond } from "../browser.ts";
import { admin, type Credentials, registerWebsite } from "../client.ts";
import { type InProcessService, startServiceForBrowser } from "../in-process-service.ts";
import { type LocalServer, serveLocally } from "../local-server.ts";

/** The parameters of a synthesis that a page has requested. */
export type Spoken = Readonly<Record<string, string>>;

interface RecordedAudio {
  readonly paused: boolean;
  readonly currentTime: number;
  readonly duration: number;
  readonly playbackRate: number;
  readonly volume: number;
  addEventListener(kind: "ended", listener: () => void): void;
}

/** The globals of a page. */
export interface FeatureWindow {
  audios: RecordedAudio[];
  ended: number;
  /** The durations of what was played to its end. */
  playedSeconds: number;
  Audio: new () => RecordedAudio;
}

declare const window: FeatureWindow;

/** Records every audio element that the page makes, and counts what was played to the end. */
const recordAudio = (): void => {
  const Original = window.Audio;
  window.audios = [];
  window.ended = 0;
  window.playedSeconds = 0;
  window.Audio = new Proxy(Original, {
    construct: () => {
      const audio = new Original();
      window.audios.push(audio);
      audio.addEventListener("ended", () => {
        window.ended++;
        window.playedSeconds += audio.duration;
      });
      return audio;
    },
  });
};

/** A page that a website serves with the player's tag, in a browser. */
export interface FeaturePage {
  readonly page: Page;
  /** Every synthesis requested so far, in order. */
  spoken(): readonly Spoken[];
  /** The texts of all requested syntheses. */
  texts(): readonly string[];
  /** Waits until a synthesis of this text is requested. */
  untilSpoken(text: string | RegExp): Promise<Spoken>;
  /** Waits until this many audio elements were played to the end. */
  untilEnded(count?: number): Promise<void>;
  /** Waits until audio is playing. */
  untilPlaying(): Promise<void>;
  /** What the page's content security policy has refused, and uncaught errors. */
  readonly complaints: readonly string[];
}

export interface FeatureSite {
  readonly service: InProcessService;
  readonly website: Credentials;
  readonly browser: Browser;
  readonly site: LocalServer;
  configure(config: StoredConfig): Promise<void>;
  /** Makes this a verified origin of the website, too. */
  allow(origin: string): Promise<void>;
  /** Serves this body under a strict policy and opens it. */
  open(body: string, options?: OpenOptions): Promise<FeaturePage>;
  /** Closes all pages. */
  closePages(): Promise<void>;
  close(): Promise<void>;
}

export interface OpenOptions {
  /** Elements of the head. Default: the tag that starts the player. */
  readonly head?: string;
  /** Attributes of the `html` element. */
  readonly attributes?: string;
  readonly css?: string;
  readonly prepare?: (page: Page) => Promise<unknown>;
}

/** A real service, and a website on an origin of its own. */
export const openFeatureSite = async (): Promise<FeatureSite> => {
  const [service, browser] = await Promise.all([startServiceForBrowser(), openBrowser()]);
  const website = await registerWebsite(service.url);
  const served = { html: "", css: "" };
  /** Players remember their places by address: those of another test are not for this one. */
  let test = 1;
  const site = await serveLocally((req, res) => {
    const isSheet = req.url === "/site.css";
    res
      .writeHead(200, {
        "Content-Type": isSheet ? "text/css" : "text/html; charset=utf-8",
        "Cache-Control": "no-store",
        "Content-Security-Policy": policyFor(service.url),
      })
      .end(isSheet ? served.css : served.html);
  });
  const origins = [site.url];
  const setOrigins = () => admin(service.url, "PUT", `/websites/${website.id}/origins`, { origins });
  await setOrigins();
  await browser.context.addInitScript(recordAudio);
  const tag = `<script type="module" src="${service.url}/player.js" data-api-key="${website.apiKey}"></script>`;

  return {
    service,
    website,
    browser,
    site,
    configure: async (config) => {
      const { status, body } = await admin(service.url, "PUT", `/websites/${website.id}/config`, config);
      if (status !== 200 && status !== 204) throw new Error(JSON.stringify(body));
    },
    allow: async (origin) => {
      origins.push(origin);
      await setOrigins();
    },
    open: async (body, { head = tag, attributes = 'lang="en"', css = "", prepare } = {}) => {
      served.html = pageOf(body, head, attributes);
      served.css = css;
      const page = await browser.context.newPage();
      await prepare?.(page);
      return await openPage(page, `${site.url}/?test=${test}`);
    },
    closePages: async () => {
      test++;
      await browser.closePages();
    },
    close: async () => {
      await browser.close();
      await site.close();
      await service.close();
    },
  };
};

/** No inline styles, no inline scripts, no strings as markup. */
const policyFor = (service: string): string =>
  [
    "default-src 'none'",
    `script-src ${service}`,
    `connect-src ${service}`,
    "media-src blob:",
    "style-src 'self'",
    "img-src data:",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
  ].join("; ");

const pageOf = (body: string, head: string, attributes: string): string => `<!doctype html>
<html ${attributes}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>A website</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/site.css">
${head}
</head>
<body>
${body}
</body>
</html>`;

/** What a request asks to synthesize: one text, or the parts of an article. */
const synthesesOf = (request: Request): Spoken[] => {
  const { pathname, searchParams } = new URL(request.url());
  if (pathname === "/v2/text/synthesize") return [Object.fromEntries(searchParams)];
  if (pathname !== "/v2/articles" || request.method() !== "POST") return [];
  const { parts, ...article } = request.postDataJSON() as { readonly parts: readonly Spoken[] };
  const prosody = Object.fromEntries(Object.entries(article).map(([name, value]) => [name, String(value)]));
  return parts.map(({ id: _, ...part }) => ({ ...prosody, ...part }));
};

const openPage = async (page: Page, url: string): Promise<FeaturePage> => {
  const requested: Spoken[] = [];
  const complaints: string[] = [];
  const matches = (text: string | RegExp, spoken: Spoken): boolean =>
    typeof text === "string" ? spoken.text === text : text.test(spoken.text ?? "");
  page.on("request", (request) => requested.push(...synthesesOf(request)));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  await page.goto(url);
  await page.waitForLoadState("networkidle");
  return {
    page,
    complaints,
    spoken: () => requested,
    texts: () => requested.map(({ text = "" }) => text),
    untilSpoken: async (text) => {
      const known = requested.find((spoken) => matches(text, spoken));
      if (known) return known;
      const isMatch = (spoken: Spoken): boolean => matches(text, spoken);
      const request = await page.waitForRequest((one) => synthesesOf(one).some(isMatch));
      return synthesesOf(request).find(isMatch) ?? {};
    },
    untilEnded: async (count = 1) => {
      await page.waitForFunction((least) => window.ended >= least, count, tenTimesASecond);
    },
    untilPlaying: async () => {
      await page.waitForFunction(
        () =>
          window.audios.some(
            ({ paused, currentTime, duration }) => !paused && currentTime > 0 && duration > 0.6,
          ),
        undefined,
        tenTimesASecond,
      );
    },
  };
};
