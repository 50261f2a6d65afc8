import { withDeadline } from "../../async/deadline.ts";
import { systemTime, type Time } from "../../async/time.ts";
import { EngineFailed, Invalid } from "../../domain/errors.ts";
import { tooManyInProgress } from "../../limits/queues.ts";
import { decodeHtml } from "./decode-html.ts";
import type { Websites } from "./websites.ts";

/** A response of a website. Redirects are not followed. */
export interface PageResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Must be read, or the connection stays open until the signal is aborted. */
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * Requests a page once.
 * @throws {PageUnreadable}
 */
export type RequestPage = (url: URL, signal: AbortSignal) => Promise<PageResponse>;

/** The website did not send the page. */
export class PageUnreadable extends EngineFailed {
  constructor(why: string, options: { cause?: unknown } = {}) {
    super(`The page cannot be read: ${why}.`, options);
  }
}

/** The HTML of a page, and its address after redirects. */
export interface WebsitePage {
  readonly url: string;
  readonly html: string;
}

export type ReadWebsitePage = (websiteId: string, url: string, signal: AbortSignal) => Promise<WebsitePage>;

interface WebsitePageOptions {
  readonly websites: Pick<Websites, "get">;
  readonly requestPage: RequestPage;
  readonly time?: Time;
}

const maxAtOnce = 4;
const maxRedirects = 5;
const maxBytes = 2 * 1024 * 1024;
const timeoutMs = 10_000;

/**
 * Reads pages of a website's verified origins, and follows redirects within them. The function that
 * it returns throws {NotFound}, {Invalid}, {Unavailable} and {PageUnreadable}.
 */
export const createReadWebsitePage = ({
  websites,
  requestPage,
  time = systemTime,
}: WebsitePageOptions): ReadWebsitePage => {
  let running = 0;
  return async (websiteId, url, signal) => {
    const { origins } = websites.get(websiteId);
    const first = verifiedUrl(url, origins);
    if (running >= maxAtOnce) throw tooManyInProgress();
    running++;
    try {
      const onTimeout = () => new PageUnreadable(`it took longer than ${timeoutMs / 1_000} seconds`);
      return await withDeadline({ time, ms: timeoutMs, onTimeout, signal }, (within) =>
        followRedirects(first, origins, (target) => requestPage(target, within)),
      );
    } finally {
      running--;
    }
  };
};

const verifiedUrl = (text: string, origins: readonly string[]): URL => {
  const url = URL.parse(text);
  const message =
    url === null
      ? "is not an absolute URL."
      : `${url.origin} is not a verified origin of this website (${origins.join(", ") || "it has none"}).`;
  if (!url || !origins.includes(url.origin)) throw new Invalid([{ path: ["url"], message }]);
  return url;
};

const followRedirects = async (
  first: URL,
  origins: readonly string[],
  request: (url: URL) => Promise<PageResponse>,
): Promise<WebsitePage> => {
  let url = first;
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    const response = await request(url);
    const target = redirectTarget(response, url);
    if (!target) return { url: url.href, html: await readHtml(response) };
    if (!origins.includes(target.origin)) {
      const place = target.origin === "null" ? target.protocol : target.origin;
      throw new PageUnreadable(`it redirects to ${place}, which is not a verified origin`);
    }
    url = target;
  }
  throw new PageUnreadable(`it redirects more than ${maxRedirects} times`);
};

const redirectTarget = ({ status, headers }: PageResponse, base: URL): URL | undefined => {
  if (![301, 302, 303, 307, 308].includes(status) || headers.location === undefined) return undefined;
  return URL.parse(String(headers.location), base.href) ?? undefined;
};

const readHtml = async ({ status, headers, body }: PageResponse): Promise<string> => {
  const contentType = String(headers["content-type"] ?? "");
  const encoding = headers["content-encoding"] ?? "identity";
  if (status !== 200) throw new PageUnreadable(`the website responded with HTTP ${status}`);
  if (!/^text\/html\s*(;|$)/i.test(contentType)) throw new PageUnreadable("it is not text/html");
  if (encoding !== "identity") throw new PageUnreadable("the website compresses it without being asked");
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) throw new PageUnreadable(`it is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return decodeHtml(Buffer.concat(chunks, size), contentType);
};
