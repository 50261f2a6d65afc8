import type { LabelOverrides } from "./labels/labels.ts";
import { serviceUrlOf } from "./service-url.ts";
import { type TransportMode, transportModes } from "./transport/transport.ts";

/** The options of the constructor. All but `apiKey` are optional. */
export interface VoxledgerConfig {
  /** The website's public key. A page needs nothing else: its origin authenticates it. */
  readonly apiKey: string;
  /** It is for servers only, and rejected in a browser. */
  readonly apiSecret?: string;
  /**
   * The URL of the service. Default: the service that sent this script. Required if the library was
   * installed as a package, because a bundle is sent by another server.
   */
  readonly baseUrl?: string;
  /**
   * Logs method, path and status of each response to the console, never the text. Default: false.
   */
  readonly debug?: boolean;
  /**
   * The language (BCP-47) of texts that declare none. Without `defaultVoice`, its voice also speaks
   * instead of the website's.
   */
  readonly defaultLang?: string;
  /**
   * Speaks everything in its own language. Other languages are spoken by a voice of theirs.
   * Default: the voice of the website's configuration.
   */
  readonly defaultVoice?: string;
  /**
   * Who continues, at the same part, while the service cannot or will not speak: `native`, a voice
   * of the browser that works on the device; `native-remote`, any voice of the browser, some of
   * which send the text to their maker; with `none` the speech fails. Default: `native`.
   */
  readonly fallback?: Fallback;
  /** Speaks with one of the browser's own voices if one matches. Default: false. */
  readonly preferNative?: boolean;
  /**
   * Labels by language tag, such as `{ nb: { listen: "Lytt" } }`. They have precedence over those
   * of the website's configuration.
   */
  readonly labels?: LabelOverrides;
  /** Maximum number of retries of a request, 0 to 10. Default: 3. */
  readonly retryAttempts?: number;
  /**
   * The maximum milliseconds for each attempt of a request, including the response body. For a
   * stream, they apply to the first chunk and to each further one. Default: 30 000.
   */
  readonly timeout?: number;
  /**
   * The way in which audio is loaded. `chunks` downloads each part before it is played. `stream`
   * (HTTP) and `websocket` (one connection) play audio while it is synthesized, and download voices
   * that the service does not stream. Default: `chunks`.
   */
  readonly transport?: TransportMode;
}

const fallbacks = ["native", "native-remote", "none"] as const;
export type Fallback = (typeof fallbacks)[number];

export type Configuration = ReturnType<typeof resolveConfiguration>;

/** Timers use 31-bit milliseconds: a longer timer would fire at once. */
const maxTimeout = 2 ** 31 - 1;

/**
 * The options with their defaults.
 * @throws {TypeError} naming the invalid option
 */
export const resolveConfiguration = (
  options: VoxledgerConfig,
  { scriptUrl, inPage }: { scriptUrl: string | undefined; inPage: boolean },
) => {
  const { apiKey, apiSecret, retryAttempts = 3, timeout = 30_000, transport = "chunks" } = options;
  const { fallback = "native" } = options;
  if (typeof apiKey !== "string" || apiKey === "") throw new TypeError("apiKey is required.");
  if (apiSecret !== undefined && inPage) {
    throw new TypeError("apiSecret must not be in a page: every visitor could read it.");
  }
  if (!Number.isInteger(retryAttempts) || retryAttempts < 0 || retryAttempts > 10) {
    throw new TypeError("retryAttempts must be an integer from 0 to 10.");
  }
  if (!(timeout > 0 && timeout <= maxTimeout)) {
    throw new TypeError(`timeout must be a number of milliseconds above 0 and at most ${maxTimeout}.`);
  }
  if (!transportModes.includes(transport)) {
    throw new TypeError(`transport must be one of ${transportModes.join(", ")}.`);
  }
  if (!fallbacks.includes(fallback)) {
    throw new TypeError(`fallback must be one of ${fallbacks.join(", ")}.`);
  }
  return {
    apiKey,
    apiSecret,
    baseUrl: resolveBaseUrl(options.baseUrl ?? scriptUrl),
    debug: options.debug ?? false,
    labels: options.labels ?? {},
    defaultLang: options.defaultLang,
    defaultVoice: options.defaultVoice,
    fallback,
    preferNative: options.preferNative ?? false,
    retryAttempts,
    timeout,
    transport,
  };
};

/** The URL that paths are appended to. `address`: of the service, or of a script that it sent. */
const resolveBaseUrl = (address: string | undefined): string => {
  if (address === undefined) {
    throw new TypeError(
      "baseUrl is required, such as https://tts.example.com: only scripts that the service sends know it.",
    );
  }
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new TypeError(
      "baseUrl must be an http or https URL. It is required unless the service sent the library.",
    );
  }
  return serviceUrlOf(url);
};
