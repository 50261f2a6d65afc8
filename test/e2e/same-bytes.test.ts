import { randomUUID } from "node:crypto";
import { cp, readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { measureAudio } from "../../src/audio/formats/containers.ts";
import { type AudioFormat, formats, hasLengthInHeader } from "../../src/domain/synthesis/formats.ts";
import { admin, authorize, bytesOf, type Credentials, registerWebsite } from "../support/client.ts";
import { type InProcessService, startInProcessService } from "../support/in-process-service.ts";
import { openPython, type PythonScript } from "../support/python.ts";
import { temporaryFolder } from "../support/service.ts";
import { type HttpForm, openStream } from "../support/streams.ts";
import { openWebSocketClient } from "../support/websocket-client.ts";
import { goodCredentials, serveProviders, type WireProviders } from "../support/wire/providers.ts";
import { openRawClient } from "../wyoming/raw-client.ts";

const text = "The same request gives the same bytes. It does so over each door.";
const local = "UK English Female";
const paid = "alloy";

/** A service and a website that sends requests to it. */
interface Caller {
  readonly service: InProcessService;
  readonly website: Credentials;
}

interface Received {
  readonly bytes: Buffer;
  /** Undefined where the protocol does not say it. */
  readonly source?: string | undefined;
}

/** A way to request audio. */
interface Door {
  readonly name: string;
  readonly voice: typeof local | typeof paid;
  readonly formats: readonly AudioFormat[];
  /** True if a stream is asked for. */
  readonly isStream?: boolean;
  readonly ask: (caller: Caller, format: AudioFormat) => Promise<Received>;
}

const received = async (response: Response, read = bytesOf): Promise<Received> => {
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}: ${await response.text()}`);
  return { bytes: await read(response), source: response.headers.get("svc-cached") ?? undefined };
};

const post = ({ service, website }: Caller, path: string, body: object): Promise<Response> =>
  fetch(service.url + path, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${website.apiKey}.${website.apiSecret}`,
      ...authorize(website),
      "Content-Type": "application/json",
    },
    body: JSON.stringify(body),
  });

const get = ({ service, website }: Caller, path: string): Promise<Response> =>
  fetch(service.url + path, { headers: authorize(website) });

const base64In = async (response: Response, lines: RegExp): Promise<Buffer> =>
  Buffer.concat(
    Array.from((await response.text()).matchAll(lines), ([, audio = ""]) => Buffer.from(audio, "base64")),
  );

const v2 = (voice: string, format: string): string =>
  `/v2/text/synthesize?${new URLSearchParams({ voice, text, format })}`;

const wholeDoors: readonly Door[] = [
  {
    name: "GET /v2",
    voice: paid,
    formats: ["mp3", "ogg", "wav"],
    ask: async (caller, format) => received(await get(caller, v2(paid, format))),
  },
  {
    name: "POST /v2",
    voice: paid,
    formats: ["mp3", "ogg", "wav"],
    ask: async (caller, format) =>
      received(await post(caller, "/v2/text/synthesize", { voice: paid, text, format })),
  },
  {
    name: "GET /v1",
    voice: local,
    formats: ["mp3"],
    ask: async (caller) =>
      received(
        await get(caller, `/v1/text:synthesize?${new URLSearchParams({ name: local, lang: "en-GB", text })}`),
      ),
  },
];

const openAiFormats = ["mp3", "opus", "aac", "flac", "wav", "pcm"] as const;

const openAiDoors = ["audio", "sse"].map((stream_format): Door => {
  const read = (response: Response) =>
    stream_format === "sse" ? base64In(response, /"audio":"([^"]*)"/g) : bytesOf(response);
  return {
    name: `/openai, stream_format ${stream_format}`,
    voice: local,
    formats: openAiFormats,
    isStream: stream_format === "sse",
    ask: async (caller, response_format) => {
      const body = { model: "tts-1", voice: local, input: text, response_format, stream_format };
      return received(await post(caller, "/openai/v1/audio/speech", body), read);
    },
  };
});

const elevenLabsFormats: Partial<Record<AudioFormat, string>> = {
  mp3: "",
  opus: "opus_48000_32",
  pcm: "pcm_24000",
  wav_22050: "wav_22050",
  mp3_44100_64: "mp3_44100_64",
  ulaw_8000: "ulaw_8000",
};

const elevenLabsDoors = ["", "/stream", "/with-timestamps", "/stream/with-timestamps"].map((path): Door => {
  const read = (response: Response) =>
    path.endsWith("timestamps") ? base64In(response, /"audio_base64":"([^"]*)"/g) : bytesOf(response);
  return {
    name: `/elevenlabs${path}`,
    voice: local,
    formats: Object.keys(elevenLabsFormats) as AudioFormat[],
    ask: async (caller, format) => {
      const named = elevenLabsFormats[format];
      const query = named ? `?output_format=${named}` : "";
      const voice = encodeURIComponent(local);
      return received(
        await post(caller, `/elevenlabs/v1/text-to-speech/${voice}${path}${query}`, { text }),
        read,
      );
    },
  };
});

const streamDoors: readonly Door[] = [
  ...(["audio", "sse"] as const).map(
    (form: HttpForm): Door => ({
      name: `POST /v2 with Accept: text/event-stream, as ${form}`,
      voice: paid,
      formats: ["mp3", "ogg", "wav"],
      isStream: true,
      ask: async ({ service, website }, format) => {
        const open = await openStream(service.url, website, { voice: paid, text, format }, form);
        expect(open.status).to.equal(200);
        return { bytes: await open.readAudio(), source: open.headers["svc-cached"] };
      },
    }),
  ),
  {
    name: "the WebSocket",
    voice: paid,
    formats: ["mp3", "ogg", "wav"],
    isStream: true,
    ask: async ({ service, website }, format) => {
      const url = `${service.url.replace(/^http/, "ws")}/v2/text/stream`;
      const client = await openWebSocketClient(url, { headers: authorize(website) });
      client.send({ type: "synthesize", id: randomUUID(), request: { voice: paid, text, format } });
      await client.expect("stream_start");
      const parts: Buffer[] = [];
      for (let next = await client.next(); next.type !== "stream_end"; next = await client.next()) {
        if (next.type !== "frame") throw new Error(JSON.stringify(next));
        parts.push(next.audio);
      }
      await client.close();
      return { bytes: Buffer.concat(parts) };
    },
  },
  {
    name: "Wyoming",
    voice: local,
    formats: ["pcm"],
    isStream: true,
    ask: async ({ service }) => {
      const client = await openRawClient(service.wyomingUrl ?? "");
      client.send("synthesize", { text, voice: { name: local } });
      const parts: Buffer[] = [];
      for (let next = await client.next(); next?.type !== "audio-stop"; next = await client.next()) {
        if (!next || next.type === "error") throw new Error(JSON.stringify(next));
        parts.push(next.payload);
      }
      client.socket.destroy();
      return { bytes: Buffer.concat(parts) };
    },
  },
];

const doors = [...wholeDoors, ...openAiDoors, ...elevenLabsDoors, ...streamDoors];

describe("The same request", () => {
  let wire: WireProviders;
  /** A folder with the website and its credentials, and without audio. */
  let empty: Awaited<ReturnType<typeof temporaryFolder>>;
  let website: Credentials;
  let python: PythonScript;
  /** The bytes that the first door gave, by voice, format and kind of header. */
  const known = new Map<string, { readonly door: string; readonly bytes: Buffer }>();

  const start = (DATA_DIR: string, env: Record<string, string> = {}): Promise<InProcessService> =>
    startInProcessService({ ...wire.env, DATA_DIR, BURST_LIMIT: "1000000", ...env });

  before(async () => {
    [wire, empty] = await Promise.all([serveProviders(), temporaryFolder()]);
    python = openPython(join(import.meta.dirname, "../support/read-audio.py"));
    const service = await start(empty.path);
    website = await registerWebsite(service.url);
    await admin(service.url, "PUT", `/websites/${website.id}/credentials/oai`, goodCredentials.oai);
    await service.close();
  });
  after(async () => {
    await Promise.all([python.close(), wire.close(), empty.remove()]);
  });

  /** Expects the bytes that all doors give to such requests. */
  const expectKnown = ({ name, voice, isStream = false }: Door, format: AudioFormat, bytes: Buffer): void => {
    const key = `${voice} ${format} ${isStream && hasLengthInHeader(format) ? "stream" : "final"}`;
    const { door, bytes: others } = known.get(key) ?? { door: name, bytes };
    known.set(key, { door, bytes: others });
    const is = `${bytes.length} bytes instead of ${others.length}`;
    expect(bytes.equals(others), `${format} over ${name} is not that over ${door}: ${is}`).to.equal(true);
  };

  for (const door of doors) {
    it(`gives the same bytes over ${door.name}: at first, again, from the store, and as /audio`, async () => {
      const folder = await temporaryFolder();
      await cp(empty.path, folder.path, { recursive: true });
      const env = { WYOMING_PORT: "0", WYOMING_KEY: `${website.apiKey}.${website.apiSecret}` };
      let service = await start(folder.path, env);
      const firstAndTenth = new Map<AudioFormat, Buffer[]>();
      const ask = async (format: AudioFormat, source: string): Promise<Buffer> => {
        const response = await door.ask({ service, website }, format);
        expect(response.source ?? source, `${format}, ${source}`).to.equal(source);
        expectKnown(door, format, response.bytes);
        return response.bytes;
      };
      try {
        for (const format of door.formats) {
          const bytes = [await ask(format, "miss")];
          while (bytes.length < 10) bytes.push(await ask(format, "memory"));
          firstAndTenth.set(format, [bytes[0], bytes[9]] as Buffer[]);
        }
        await service.close();
        service = await start(folder.path, env);
        for (const format of door.formats) await ask(format, "store");
        await expectKnownObjects(service.url, folder.path, door);
      } finally {
        await service.close();
        await folder.remove();
      }
      if (!door.isStream) await expectReadable(firstAndTenth);
    });
  }

  /**
   * The objects in the store are the final audio, also where a stream made them. Those of paid
   * voices have no address.
   */
  const expectKnownObjects = async (url: string, folder: string, door: Door): Promise<void> => {
    const files = await readdir(folder, { recursive: true });
    const names = files.map((file) => file.slice(file.lastIndexOf("/") + 1));
    for (const format of new Set(door.formats)) {
      const { extension } = formats[format];
      const objects = names.filter((name) => new RegExp(`^[0-9a-f]{64}\\.${extension}$`).test(name));
      expect(objects, `${format}: ${names}`).to.not.be.empty;
      if (
        door.voice !== local ||
        door.formats.filter((one) => formats[one].extension === extension).length > 1
      )
        continue;
      const response = await fetch(`${url}/audio/${objects[0]}`);
      expect(response.status).to.equal(200);
      expectKnown(
        { ...door, name: `/audio after ${door.name}`, isStream: false },
        format,
        await bytesOf(response),
      );
    }
  };

  /** Python's readers find as many samples as there are. */
  const expectReadable = async (sounds: ReadonlyMap<AudioFormat, readonly Buffer[]>): Promise<void> => {
    for (const [format, responses] of sounds) {
      const { container } = formats[format];
      if (!hasLengthInHeader(format)) continue;
      const asked = responses.map((bytes) => ({ format: container, audio: bytes.toString("base64") }));
      const found = await python.ask<Record<string, number>[]>(asked);
      for (const [index, bytes] of responses.entries()) {
        const samples = measureAudio(format, bytes)?.samples ?? 0;
        const isWave = container === "wav";
        const expected = { soundfile: samples, ...(isWave && { wave: samples, waveBytes: 2 * samples }) };
        expect(found[index], format).to.deep.equal(expected);
      }
    }
  };

  it("gives streams of wav and flac other bytes in the header only, which has no length there", async () => {
    const named = (name: string): Door => {
      const door = doors.find((one) => one.name === name);
      if (!door) throw new Error(`no door ${name}`);
      return door;
    };
    const pairs: readonly (readonly [stream: Door, whole: Door, formats: readonly AudioFormat[]])[] = [
      [named("POST /v2 with Accept: text/event-stream, as audio"), named("POST /v2"), ["wav"]],
      [named("/openai, stream_format sse"), named("/openai, stream_format audio"), ["wav", "flac"]],
    ];
    const folder = await temporaryFolder();
    await cp(empty.path, folder.path, { recursive: true });
    const service = await start(folder.path);
    try {
      for (const [stream, whole, formatsOfBoth] of pairs)
        for (const format of formatsOfBoth) {
          const { bytes: streamed } = await stream.ask({ service, website }, format);
          const { bytes: final } = await whole.ask({ service, website }, format);
          const [from, to] = format === "flac" ? [21, 26] : [4, 44];
          const rest = (bytes: Buffer) => [bytes.toString("hex", 0, from), bytes.toString("hex", to)];
          expect(streamed.equals(final), format).to.equal(false);
          expect(streamed.length, format).to.equal(final.length);
          expect(rest(streamed), format).to.deep.equal(rest(final));
          if (format === "flac") expect(streamed.readUIntBE(21, 5) % 2 ** 36).to.equal(0);
          else
            expect([streamed.readUInt32LE(4), streamed.readUInt32LE(40)]).to.deep.equal([
              0xffff_ffff, 0xffff_ffff,
            ]);
        }
    } finally {
      await service.close();
      await folder.remove();
    }
  });
});
