import { execFile } from "node:child_process";
import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { authorize, type Credentials } from "./client.ts";
import { adminToken } from "./service.ts";

/** The two representations of a stream over HTTP. */
export const httpForms = ["audio", "sse"] as const;
export type HttpForm = (typeof httpForms)[number];

/** A stream whose headers have been received and whose body has not been read. */
export interface OpenStream {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: IncomingMessage;
  /**
   * Reads the audio to the end of the stream.
   * @throws if the stream is incomplete
   */
  readAudio(): Promise<Buffer>;
  /** Destroys the connection. */
  disconnect(): void;
}

/** POST /v2/text/synthesize with `Accept: text/event-stream`, over a new connection. */
export const openStream = async (
  url: string,
  website: Credentials,
  members: Readonly<Record<string, unknown>>,
  form: HttpForm = "audio",
): Promise<OpenStream> => {
  const sent: ClientRequest = request(`${url}/v2/text/synthesize`, {
    method: "POST",
    agent: false,
    headers: { ...authorize(website), "Content-Type": "application/json", Accept: "text/event-stream" },
  });
  sent.end(JSON.stringify({ ...members, ...(form === "sse" && { stream: true }) }));
  const [body] = (await once(sent, "response")) as [IncomingMessage];
  body.on("error", () => undefined);
  return {
    status: body.statusCode ?? 0,
    headers: body.headers as Record<string, string>,
    body,
    readAudio: async () => {
      const bytes = Buffer.concat(await body.toArray());
      return form === "sse" ? audioOf(eventsIn(bytes.toString())) : bytes;
    },
    disconnect: () => sent.destroy(),
  };
};

/** A chunk of a stream as a server-sent event. */
export interface ChunkEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export const eventsIn = (stream: string): ChunkEvent[] =>
  stream
    .split("\n\n")
    .map((event) => event.trim())
    .filter((event) => event !== "" && !event.startsWith(":"))
    .map((event) => {
      const [, type = "", data = "{}"] = /^event: (\w+)\ndata: (.*)$/.exec(event) ?? [];
      return { type, data: JSON.parse(data) };
    });

/**
 * The audio of a complete stream.
 * @throws if events are missing or out of order
 */
export const audioOf = (events: readonly ChunkEvent[]): Buffer => {
  const [first, last] = [events[0], events.at(-1)];
  const chunks = events.slice(1, -1);
  const isInOrder = chunks.every(({ type, data }, index) => type === "audio" && data.chunkIndex === index);
  if (first?.type !== "metadata" || last?.type !== "end" || !isInOrder)
    throw new Error(`incomplete stream: ${events.map(({ type }) => type)}`);
  const sound = Buffer.concat(chunks.map(({ data }) => Buffer.from(String(data.data), "base64")));
  if (last.data.totalBytes !== sound.length || last.data.totalChunks !== chunks.length)
    throw new Error("the totals of the end event are wrong");
  return sound;
};

/** The data of the key's events of one type, in order. */
export const recordedEvents = async (
  url: string,
  { apiKey }: Credentials,
  type: "SynthesisServed" | "StreamEnded",
): Promise<Record<string, unknown>[]> => {
  const response = await fetch(`${url}/admin/audit?apiKey=${apiKey}`, {
    headers: { Authorization: `Bearer ${adminToken}` },
  });
  const lines = (await response.text()).trim().split("\n");
  return lines.map((line) => JSON.parse(line)).flatMap((event) => (event.type === type ? [event.data] : []));
};

/** The StreamEnded event of a request, as soon as it has been recorded. */
export const recordedStreamEnd = async (
  url: string,
  website: Credentials,
  requestId: unknown,
): Promise<Record<string, unknown>> => {
  for (;;) {
    const ends = await recordedEvents(url, website, "StreamEnded");
    const end = ends.find((one) => one.requestId === requestId);
    if (end) return end;
    await delay(10);
  }
};

/**
 * The duration of the decoded audio.
 * @throws if ffmpeg reports an error
 */
export const secondsOf = (sound: Buffer): Promise<number> =>
  new Promise((resolve, reject) => {
    const args = ["-v", "error", "-i", "pipe:0", "-f", "s16le", "-ac", "1", "-ar", "24000", "pipe:1"];
    const child = execFile(
      "ffmpeg",
      args,
      { encoding: "buffer", timeout: 240_000, killSignal: "SIGKILL", maxBuffer: 256 << 20 },
      (error, samples, complaints) => {
        if (error || complaints.length > 0) reject(new Error(`ffmpeg: ${complaints}`, { cause: error }));
        else resolve(samples.length / 2 / 24_000);
      },
    );
    child.stdin?.on("error", () => undefined).end(sound);
  });
