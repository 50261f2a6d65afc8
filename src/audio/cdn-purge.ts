/**
 * Makes a CDN forget all responses with this audio.
 * @throws {CdnUnavailable}
 */
export type PurgeCdn = (hash: string) => Promise<void>;

/** Its message contains no address of a cache. */
export class CdnUnavailable extends Error {
  override readonly name = "CdnUnavailable";
}

const timeoutMs = 5_000;

/**
 * Sends `PURGE /audio/{hash}` to each cache, as infra/varnish understands it. Repeating it is
 * harmless.
 */
export const createCdnPurge =
  ({ urls, token }: { readonly urls: readonly string[]; readonly token: string }): PurgeCdn =>
  async (hash) => {
    const purge = async (url: string): Promise<void> => {
      const response = await fetch(`${url}/audio/${hash}`, {
        method: "PURGE",
        headers: { Authorization: `Bearer ${token}` },
        redirect: "error",
        signal: AbortSignal.timeout(timeoutMs),
      });
      await response.body?.cancel();
      if (!response.ok) throw new CdnUnavailable(`A cache refused the purge (HTTP ${response.status}).`);
    };
    const results = await Promise.allSettled(urls.map(purge));
    for (const result of results) {
      if (result.status === "fulfilled") continue;
      const { reason } = result;
      throw reason instanceof CdnUnavailable
        ? reason
        : new CdnUnavailable("A cache could not be reached.", { cause: reason });
    }
  };
