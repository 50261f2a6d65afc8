import type { Engine, SpeechRequest } from "../../../src/engines/engine.ts";
import type {
  Exchange,
  UpstreamRequest,
  UpstreamResponse,
} from "../../../src/engines/provider-http/exchange.ts";

/** A pending request, completed by the test. */
export interface PendingRequest {
  readonly signal: AbortSignal;
  response(response?: Partial<UpstreamResponse>): void;
  fail(error: unknown): void;
}

export const anyRequest: UpstreamRequest = {
  method: "POST",
  url: new URL("http://localhost/speak"),
  headers: {},
};

/**
 * An exchange whose requests to which the test responds; like the real one it rejects when aborted.
 */
export const manualExchange = (): { exchange: Exchange; requests: PendingRequest[] } => {
  const requests: PendingRequest[] = [];
  const exchange: Exchange = (_request, signal) =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted();
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      requests.push({
        signal,
        response: (response) => resolve({ status: 200, headers: {}, body: bodyOf("sound"), ...response }),
        fail: reject,
      });
    });
  return { exchange, requests };
};

export async function* bodyOf(...chunks: readonly string[]): AsyncGenerator<Buffer, void> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

/** Yields the chunks, then throws. */
export async function* brokenBody(
  error: unknown,
  ...chunks: readonly string[]
): AsyncGenerator<Buffer, void> {
  yield* bodyOf(...chunks);
  throw error;
}

export const sentence: SpeechRequest = {
  text: "It is what it is.",
  ssml: false,
  voice: "anybody",
  lang: "en-US",
  prosody: { pitch: 1, rate: 1, volume: 1 },
  format: "mp3",
};

export type Scripted = () => AsyncIterable<Buffer> | Promise<never>;

/** An engine with one scripted result per synthesis. */
export const scriptedEngine = (...script: readonly Scripted[]): { engine: Engine; calls: () => number } => {
  let calls = 0;
  return {
    calls: () => calls,
    engine: {
      code: "oai",
      version: () => "scripted",
      prosody: () => [],
      takesSsml: () => false,
      synthesize: async () => {
        const next = script[calls++];
        if (!next) throw new TypeError("the script has ended");
        return { encoding: { kind: "encoded", format: "mp3" }, audio: await next() };
      },
    },
  };
};
