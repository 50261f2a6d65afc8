import { type TransportMode, transportModes } from "./transport/transport.ts";

/** What the library is told at its making. All but `apiKey` is optional. */
export interface VoxledgerConfig {
  /** The website's public key. A page needs nothing else: the service knows it by its origin. */
  readonly apiKey: string;
  /** For servers only; refused where there is a document. */
  readonly apiSecret?: string;
  /** Where the service is. Default: where this script was loaded from. */
  readonly baseUrl?: string;
  /** Tells the console of each request: method, path, status and time; never the text. Default: false. */
  readonly debug?: boolean;
  /** BCP-47; spoken in when no voice is asked for and none is the default. */
  readonly defaultLang?: string;
  /** Default: the voice of the website's configuration. */
  readonly defaultVoice?: string;
  /** Speaks by the browser's own voices where one matches. Default: false. */
  readonly preferNative?: boolean;
  /** How often a request is made again, 0 to 10. Default: 3. */
  readonly retryAttempts?: number;
  /**
   * Milliseconds that one attempt of a request may take, its answer's body included; of a streamed sound, its first piece,
   * and each one after it. Default: 30 000.
   */
  readonly timeout?: number;
  /**
   * How the audio of fallback voices comes here: `chunks`, each part whole before it is played; `stream`, over HTTP, and
   * `websocket`, over one connection, played while it is made. The service streams paid voices; others come in chunks
   * whatever is said here. Default: `chunks`.
   */
  readonly transport?: TransportMode;
}

/** The configuration with its defaults. */
export interface Configuration
  extends Required<Omit<VoxledgerConfig, "apiSecret" | "defaultLang" | "defaultVoice">> {
  readonly apiSecret: string | undefined;
  readonly defaultLang: string | undefined;
  readonly defaultVoice: string | undefined;
}

/** Timers count milliseconds in 31 bits; a longer one would fire at once. */
const longestTimeout = 2 ** 31 - 1;

/** @throws {TypeError} naming what cannot be used */
export const resolveConfiguration = (
  given: VoxledgerConfig,
  { scriptUrl, inPage }: { scriptUrl: string; inPage: boolean },
): Configuration => {
  const { apiKey, apiSecret, retryAttempts = 3, timeout = 30_000, transport = "chunks" } = given;
  if (typeof apiKey !== "string" || apiKey === "") throw new TypeError("apiKey is required.");
  if (apiSecret !== undefined && inPage) {
    throw new TypeError("apiSecret must not be in a page: whoever reads the page has it.");
  }
  if (!Number.isInteger(retryAttempts) || retryAttempts < 0 || retryAttempts > 10) {
    throw new TypeError("retryAttempts must be a whole number from 0 to 10.");
  }
  if (!(timeout > 0 && timeout <= longestTimeout)) {
    throw new TypeError(`timeout must be milliseconds, above 0 and up to ${longestTimeout}.`);
  }
  if (!transportModes.includes(transport)) {
    throw new TypeError(`transport must be one of ${transportModes.join(", ")}.`);
  }
  return {
    apiKey,
    apiSecret,
    baseUrl: baseOf(given.baseUrl ?? scriptUrl),
    debug: given.debug ?? false,
    defaultLang: given.defaultLang,
    defaultVoice: given.defaultVoice,
    preferNative: given.preferNative ?? false,
    retryAttempts,
    timeout,
    transport,
  };
};

/** The folder that paths are resolved in: the script's own, or the one given, with or without a slash at its end. */
const baseOf = (address: string): string => {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new TypeError(
      "baseUrl is required, an http or https URL, unless the library is loaded from the service.",
    );
  }
  const folder = url.pathname.replace(/[^/]*\.(js|ts)$/, "").replace(/\/*$/, "/");
  return url.origin + folder;
};
