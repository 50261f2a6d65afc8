import type { AudioDetails } from "../application/audio/audio-reports.ts";
import type { AudioName, NamedAudio } from "../application/synthesis/audio-names.ts";

export type { AudioName, NamedAudio };

/** The request of a synthesis, with the names of POST /v2/text/synthesize. */
export interface SpokenRequest {
  readonly text: string;
  readonly voice: string;
  readonly pitch: number;
  readonly rate: number;
  readonly volume: number;
  readonly format: string;
}

export interface Caller {
  readonly role: "website" | "operator";
  readonly apiKey: string;
  /** The key's secret, or an operator's token. */
  readonly secret: string;
}

/** A refusal, in the service's words. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The requests of the page. Only `name` and `speak` send the text. */
export const createService = (base: string, { role, apiKey, secret }: Caller) => {
  const isOperator = role === "operator";
  const headers = {
    ...(isOperator ? { Authorization: `Bearer ${secret}` } : { "X-API-Key": apiKey, "X-API-Secret": secret }),
    "Content-Type": "application/json",
  };
  const send = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const response = await fetch(base + path, { cache: "no-store", ...init });
    if (response.ok) return response;
    const body = await response.json().catch(() => undefined);
    throw new Refused(
      response.status,
      body?.error?.message ?? `The service responded with ${response.status}.`,
    );
  };
  const post = (path: string, body: object, more: HeadersInit = headers): Promise<Response> =>
    send(path, { method: "POST", headers: more, body: JSON.stringify(body) });

  return {
    name: async (request: SpokenRequest): Promise<NamedAudio> => {
      const path = isOperator ? `admin/keys/${encodeURIComponent(apiKey)}/audio/name` : "v2/audio/name";
      return await (await post(path, { request })).json();
    },
    /** Reads what operators know of the audio's servings in the last 31 days. */
    servings: async (name: string): Promise<AudioDetails["servings"]> =>
      (await (await send(`admin/sounds/${name}`, { headers })).json()).servings,
    /** The stored audio; undefined if it is not stored. */
    stored: async (name: string, extension: string): Promise<ArrayBuffer | undefined> => {
      try {
        return await (await send(`audio/${name}.${extension}`)).arrayBuffer();
      } catch (error) {
        if (error instanceof Refused && error.status === 404) return undefined;
        throw error;
      }
    },
    /**
     * Requests a synthesis, which is charged. Of the service's APIs, only OpenAI's offers all
     * formats that hold samples.
     */
    speak: async (
      { text, voice, rate, format }: SpokenRequest,
      { engine }: Pick<AudioName, "engine">,
    ): Promise<ArrayBuffer> => {
      const body = { model: engine, input: text, voice, speed: rate, response_format: format };
      const authorization = { ...headers, Authorization: `Bearer ${apiKey}.${secret}` };
      return await (await post("openai/v1/audio/speech", body, authorization)).arrayBuffer();
    },
  };
};
