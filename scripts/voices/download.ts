import { createHash } from "node:crypto";

/** The longest wait for a server's response, and for a whole file. */
const timeouts = { startMs: 10_000, wholeMs: 180_000 } as const;

export const sha256Of = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

/** @throws {Error} in one line: it cannot be fetched, or is another file than the expected one */
export const download = async (url: string, sha256: string): Promise<Buffer> => {
  const bytes = await fetchBytes(url);
  if (sha256Of(bytes) !== sha256)
    throw new Error(`${fileOf(url)} of ${new URL(url).host} is not the published file`);
  return bytes;
};

/** A file of a project on the Python Package Index, or on the mirror that `PIP_INDEX_URL` names. */
export const downloadFromIndex = async (project: string, file: string, sha256: string): Promise<Buffer> => {
  const index = `${(process.env.PIP_INDEX_URL || "https://pypi.org/simple").replace(/\/+$/, "")}/${project}/`;
  const page = (await fetchBytes(index)).toString();
  const links = [...page.matchAll(/href="([^"#]+)/g)].map(([, href = ""]) => new URL(href, index).href);
  const url = links.find((link) => fileOf(link) === file);
  if (url === undefined) throw new Error(`${new URL(index).host} has no ${file}`);
  return await download(url, sha256);
};

const fileOf = (url: string): string => decodeURIComponent(new URL(url).pathname.split("/").at(-1) ?? "");

const fetchBytes = async (url: string): Promise<Buffer> => {
  const { host } = new URL(url);
  const unanswered = new AbortController();
  const timer = setTimeout(() => unanswered.abort(), timeouts.startMs);
  try {
    const signal = AbortSignal.any([unanswered.signal, AbortSignal.timeout(timeouts.wholeMs)]);
    const response = await fetch(url, { signal });
    clearTimeout(timer);
    if (!response.ok) throw new Error(`${host} responds with ${response.status}`);
    return Buffer.from(await response.arrayBuffer());
  } catch (error) {
    throw new Error(`${host}: ${reasonOf(error)}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
};

const reasonOf = (error: unknown): string => {
  const { message, name, cause } = error as Error;
  if (name === "AbortError" || name === "TimeoutError") return "no response in time";
  return cause instanceof Error ? cause.message : message;
};
