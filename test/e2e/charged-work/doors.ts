import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { WebSocket } from "ws";
import { authorize, type Credentials } from "../../support/client.ts";
import { openRawClient } from "../../wyoming/raw-client.ts";

/** One request of a client. */
export interface Speech {
  readonly website: Credentials;
  readonly voice: string;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * When the client leaves: the signal is aborted, or the client stops to read after its first byte.
 */
export interface Leaving {
  readonly signal: AbortSignal;
  readonly readsNothing: boolean;
}

export interface Address {
  readonly url: string;
  readonly wyomingUrl: string;
}

/** Sends the request and reads its response, as far as the client does. */
export type Door = (address: Address, speech: Speech, leaving: Leaving) => Promise<void>;

const v2 = "/v2/text/synthesize";

const read = async (response: Response, { readsNothing }: Leaving): Promise<void> => {
  if (readsNothing) await response.body?.cancel();
  else await response.arrayBuffer();
};

const get =
  (path: string, more: Readonly<Record<string, string>> = {}, init: RequestInit = {}): Door =>
  async ({ url }, { website, voice, text, headers }, leaving) => {
    const named = path === v2 ? { voice } : { name: voice, lang: "en-US" };
    const query = new URLSearchParams({ ...named, text });
    const options = {
      ...init,
      headers: { ...authorize(website), ...headers, ...more },
      signal: leaving.signal,
    };
    await read(await fetch(`${url}${path}?${query}`, options), leaving);
  };

const post =
  (
    path: (speech: Speech) => string,
    body: (speech: Speech) => object,
    more: Readonly<Record<string, string>> = {},
  ): Door =>
  async ({ url }, speech, leaving) => {
    const { website, headers } = speech;
    const init = {
      method: "POST",
      headers: { ...authorize(website), ...headers, ...more, "Content-Type": "application/json" },
      body: JSON.stringify(body(speech)),
      signal: leaving.signal,
    };
    await read(await fetch(url + path(speech), init), leaving);
  };

const streamed = { Accept: "text/event-stream" };
const spoken = ({ voice, text }: Speech) => ({ voice, text });
const openAi = ({ voice, text }: Speech) => ({ model: "tts-1", voice, input: text });
const elevenLabs = (end: string) =>
  post(
    ({ voice }) => `/elevenlabs/v1/text-to-speech/${voice}${end}`,
    ({ text }) => ({ text }),
  );

const overWebSocket: Door = async ({ url }, { website, voice, text }, { signal, readsNothing }) => {
  const socket = new WebSocket(`${url.replace("http", "ws")}/v2/text/stream`, {
    headers: authorize(website),
  });
  const closed = once(socket, "close");
  socket.on("error", () => {});
  socket.on("open", () => {
    socket.send(JSON.stringify({ type: "synthesize", id: randomUUID(), request: { voice, text } }));
    if (readsNothing) socket.pause();
  });
  socket.on("message", (data, isBinary) => {
    if (!isBinary && /"type":"(stream_end|error)"/.test(String(data))) socket.close();
  });
  signal.addEventListener("abort", () => socket.terminate());
  await closed;
};

const overWyoming: Door = async ({ wyomingUrl }, { voice, text }, { signal, readsNothing }) => {
  const client = await openRawClient(wyomingUrl);
  const leave = (): void => void client.socket.destroy();
  if (signal.aborted) leave();
  else signal.addEventListener("abort", leave);
  client.send("synthesize", { text, voice: { name: voice } });
  if (readsNothing) client.socket.pause();
  for (;;) {
    const event = await client.next();
    if (!event || event.type === "audio-stop" || event.type === "error") break;
  }
  client.socket.destroy();
};

/** Every way to have a text spoken. */
export const doors: Readonly<Record<string, Door>> = {
  GET: get(v2),
  HEAD: get(v2, {}, { method: "HEAD" }),
  "GET of a part": get(v2, { Range: "bytes=0-99" }),
  "GET of all as a part": get(v2, { Range: "bytes=0-" }),
  "GET of a part that does not exist": get(v2, { Range: "bytes=999999999-" }),
  "GET of v1": get("/v1/text:synthesize"),
  POST: post(() => v2, spoken),
  "server-sent events": post(
    () => v2,
    (speech) => ({ ...spoken(speech), stream: true }),
    streamed,
  ),
  "audio stream": post(() => v2, spoken, streamed),
  OpenAI: post(() => "/openai/v1/audio/speech", openAi),
  "OpenAI's events": post(
    () => "/openai/v1/audio/speech",
    (speech) => ({ ...openAi(speech), stream_format: "sse" }),
  ),
  ElevenLabs: elevenLabs(""),
  "ElevenLabs' stream": elevenLabs("/stream"),
  "ElevenLabs with times": elevenLabs("/with-timestamps"),
  "ElevenLabs' stream with times": elevenLabs("/stream/with-timestamps"),
  WebSocket: overWebSocket,
  Wyoming: overWyoming,
};
