/**
 * Measures the milliseconds to the first audio byte of a new text with a local voice: in each
 * format of OpenAI's API, in G.711 of ElevenLabs' API, and over Wyoming. The text is a sentence, or
 * 4,000 characters that begin with it. If the argument is the checkout of another version of the
 * service, with its dependencies installed, also measures a sentence beside that version.
 */
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { authorize, type Credentials, registerWebsite } from "../../test/support/client.ts";
import { freePort } from "../../test/support/free-port.ts";
import { startInstance } from "../../test/support/instance.ts";
import { openRawClient } from "../../test/wyoming/raw-client.ts";
import { figuresOf } from "./side-by-side.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

const formats = ["mp3", "opus", "aac", "ogg", "pcm", "wav", "flac", "ulaw_8000", "Wyoming"] as const;
type Format = (typeof formats)[number];
/**
 * The formats whose responses begin when the audio is complete. The headers of wav and flac state
 * the length. ogg is requested from `/v2`, which streams only premium voices.
 */
const sentAtTheEnd: readonly Format[] = ["wav", "flac", "ogg"];
const voice = "Spanish Female"; // espeak-ng's
const characters = 4000;
const rounds = 15;
const warmUps = 5;

const [checkout] = process.argv.slice(2);

let texts = 0;
const sentence = (): string =>
  `La frase número ${String(++texts).padStart(4, "0")} es nueva en este servicio.`;
const rest = " El veloz murciélago hindú comía feliz cardillo y kiwi, y la cigüeña tocaba el saxofón.".repeat(
  60,
);
const longText = (): string => (sentence() + rest).slice(0, characters);

type Listen = (format: Format, text: string) => Promise<number>;

/** Returns the path and the body of a request for a format. */
const postOf = (format: Format, text: string): readonly [path: string, body: object] => {
  if (format === "ogg") return ["/v2/text/synthesize", { text, engine: "g5", lang: "eo", format }];
  if (format === "ulaw_8000")
    return [
      `/elevenlabs/v1/text-to-speech/${encodeURIComponent(voice)}/stream?output_format=${format}`,
      { text },
    ];
  return ["/openai/v1/audio/speech", { model: "tts-1", voice, input: text, response_format: format }];
};

const listenByHttp = (url: string, website: Credentials): Listen => {
  const agent = new Agent({ keepAlive: true });
  const token = `${website.apiKey}.${website.apiSecret}`;
  const headers = {
    ...{ ...authorize(website), "xi-api-key": token, Authorization: `Bearer ${token}` },
    "Content-Type": "application/json",
  };
  return async (format, text) => {
    const [path, body] = postOf(format, text);
    const sent = request(url + path, { method: "POST", agent, headers });
    const began = performance.now();
    sent.end(JSON.stringify(body));
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    if (response.statusCode !== 200) throw new Error(`${format} was answered with ${response.statusCode}`);
    let audioAfter = Number.NaN;
    for await (const _ of response) {
      audioAfter ||= performance.now() - began;
      if (text.length === characters) break; // the connection ends too
    }
    return audioAfter;
  };
};

const listenByWyoming =
  (port: number): Listen =>
  async (_format, text) => {
    const client = await openRawClient(`tcp://127.0.0.1:${port}`);
    const began = performance.now();
    client.send("synthesize", { text, voice: { name: voice } });
    let audioAfter = Number.NaN;
    for (let event = await client.next(); event?.type !== "audio-stop"; event = await client.next()) {
      if (!event || event.type === "error") throw new Error("Wyoming failed");
      if (event.type !== "audio-chunk") continue;
      audioAfter ||= performance.now() - began;
      if (text.length === characters) break;
    }
    client.socket.destroy();
    return audioAfter;
  };

const start = async (folder: string, from?: string) => {
  const limits = { BURST_LIMIT: "1000000" };
  const first = await startInstance(folder, limits, from);
  const website = await registerWebsite(first.url);
  await first.stop();
  const port = await freePort();
  const key = `${website.apiKey}.${website.apiSecret}`;
  const wyoming = { WYOMING_PORT: String(port), WYOMING_HOST: "127.0.0.1", WYOMING_KEY: key };
  const service = await startInstance(folder, { ...limits, ...wyoming }, from);
  const byHttp = listenByHttp(service.url, website);
  const byWyoming = listenByWyoming(port);
  const listen: Listen = (format, text) => (format === "Wyoming" ? byWyoming : byHttp)(format, text);
  return { service, listen };
};

await inTemporaryFolder(async (folder) => {
  const ours = await start(join(folder, "ours"));
  const other = checkout === undefined ? undefined : await start(join(folder, "other"), checkout);
  const measureShort = async (listen: Listen, format: Format): Promise<number> => listen(format, sentence());
  try {
    for (const format of formats) {
      const times = { ours: [] as number[], other: [] as number[], long: [] as number[] };
      for (let round = -warmUps; round < rounds; round++) {
        const mine = await measureShort(ours.listen, format);
        const theirs = other && (await measureShort(other.listen, format));
        const long = sentAtTheEnd.includes(format) ? undefined : await ours.listen(format, longText());
        // The long text was aborted: the next sentence would compete with the end of its work.
        if (long !== undefined) await measureShort(ours.listen, format);
        if (round < 0) continue;
        times.ours.push(mine);
        if (theirs !== undefined) times.other.push(theirs);
        if (long !== undefined) times.long.push(long);
      }
      const unit = "ms";
      const name = `first audio of a sentence, ${format}, beside another version`;
      if (other)
        console.log(
          JSON.stringify(
            figuresOf({ name, unit, aim: { atMost: 1 } }, { ours: times.ours, bare: times.other }),
          ),
        );
      if (times.long.length === 0) continue;
      const longName = `first audio of ${characters} characters, ${format}, beside a sentence`;
      const long = { ours: times.long, bare: times.ours };
      console.log(JSON.stringify(figuresOf({ name: longName, unit, aim: { atMost: 1.3 } }, long)));
    }
  } finally {
    await Promise.all([ours.service.stop(), other?.service.stop()]);
  }
});
