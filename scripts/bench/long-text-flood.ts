/**
 * Keeps texts of 5,000 characters in flight until it is ended. It is a process of its own, because
 * its event loop must not delay the requests that the bench measures. The texts are streamed, so
 * that audio counts as soon as it is spoken, not only at the end of its text. Argument: a `Flood`
 * in JSON. Responds to each line of its input with the seconds of audio that it has received so
 * far.
 */
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { authorize, type Credentials } from "../../test/support/client.ts";

export interface Flood {
  readonly url: string;
  readonly voice: string;
  readonly websites: readonly Credentials[];
  /** Texts per website. */
  readonly inFlight: number;
}

const words = "the old man came down from the hills and brought his dog a bundle of wood and two sheep".split(
  " ",
);
let texts = 0;
const longText = (): string => {
  const parts: string[] = [`Story ${process.pid} ${++texts}.`];
  for (let size = 0; size < 4800; ) {
    const sentence = `${Array.from({ length: 14 }, () => words[Math.floor(Math.random() * words.length)]).join(" ")}.`;
    parts.push(sentence);
    size += sentence.length + 1;
  }
  return parts.join(" ");
};

/** Adds jitter to Retry-After, so that refused requests do not return all at once. */
const retryAfterMs = ({ headers }: IncomingMessage): number =>
  1000 * Number(headers["retry-after"]) * (1 + Math.random());

const agent = new Agent({ keepAlive: true });

/** The mp3 of every voice has 64 kbit/s. */
const bytesPerSecond = 8000;
let seconds = 0;

const speak = async (url: string, website: Credentials, voice: string): Promise<IncomingMessage> => {
  const headers = { ...authorize(website), "Content-Type": "application/json" };
  const sent = request(`${url}/openai/v1/audio/speech`, { agent, method: "POST", headers });
  sent.end(JSON.stringify({ model: "tts-1", voice, input: longText() }));
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const isAudio = response.statusCode === 200;
  response.on("data", (bytes: Buffer) => {
    if (isAudio) seconds += bytes.length / bytesPerSecond;
  });
  await once(response, "end");
  return response;
};

const keepAsking = async ({ url, voice }: Flood, website: Credentials): Promise<void> => {
  for (;;) {
    const response = await speak(url, website, voice);
    if (response.statusCode === 429 || response.statusCode === 503) await delay(retryAfterMs(response));
    else if (response.statusCode !== 200) throw new Error(`answered with ${response.statusCode}`);
  }
};

const flood: Flood = JSON.parse(process.argv[2] ?? "");
for (const website of flood.websites)
  for (let n = 0; n < flood.inFlight; n++) void keepAsking(flood, website);
for await (const _ of createInterface({ input: process.stdin })) console.log(seconds);
process.exit();
