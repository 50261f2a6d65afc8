import { createHash } from "node:crypto";
import type { PackageArchive } from "../../src/engines/natural-voices/voice-package.ts";

/** The longest wait for a server's response, and for a whole file. */
const timeouts = { startMs: 10_000, fileMs: 180_000 } as const;

export const sha256Of = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

/** @throws {Error} with one line, if the file cannot be fetched, or is not the expected one */
export const download = async (url: string, sha256: string): Promise<Buffer> => {
  const bytes = await fetchBytes(url);
  if (sha256Of(bytes) !== sha256)
    throw new Error(`${fileOf(url)} of ${new URL(url).host} is not the published file`);
  return bytes;
};

/**
 * Downloads an archive from its registry, or from the mirror that `PIP_INDEX_URL` or
 * `NPM_CONFIG_REGISTRY` names.
 * @throws as `download`
 */
export const downloadArchive = async (archive: PackageArchive): Promise<Buffer> => {
  const { registry, sha256 } = archive;
  return await download(registry === "npm" ? npmUrl(archive) : await indexUrl(archive), sha256);
};

const npmUrl = ({ project, file }: PackageArchive): string => {
  const { NPM_CONFIG_REGISTRY, npm_config_registry = NPM_CONFIG_REGISTRY } = process.env;
  return `${baseOf(npm_config_registry, "https://registry.npmjs.org")}/${project}/-/${file}`;
};

const indexUrl = async ({ project, file }: PackageArchive): Promise<string> => {
  const index = `${baseOf(process.env.PIP_INDEX_URL, "https://pypi.org/simple")}/${project}/`;
  const page = (await fetchBytes(index)).toString();
  const links = [...page.matchAll(/href="([^"#]+)/g)].map(([, href = ""]) => new URL(href, index).href);
  const url = links.find((link) => fileOf(link) === file);
  if (url === undefined) throw new Error(`${new URL(index).host} has no ${file}`);
  return url;
};

const baseOf = (setting: string | undefined, fallback: string): string =>
  (setting || fallback).replace(/\/+$/, "");

const fileOf = (url: string): string => decodeURIComponent(new URL(url).pathname.split("/").at(-1) ?? "");

const fetchBytes = async (url: string): Promise<Buffer> => {
  const { host } = new URL(url);
  const unanswered = new AbortController();
  const timer = setTimeout(() => unanswered.abort(), timeouts.startMs);
  try {
    const signal = AbortSignal.any([unanswered.signal, AbortSignal.timeout(timeouts.fileMs)]);
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
