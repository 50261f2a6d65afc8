import { execFile } from "node:child_process";
import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { authorize, type Credentials } from "./client.ts";
import { adminToken } from "./service.ts";

/** The two forms that a stream has over HTTP. */
export const httpForms = ["audio", "sse"] as const;
export type HttpForm = (typeof httpForms)[number];

/** A stream whose head has come; of its body nothing is read yet. */
export interface OpenStream {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: IncomingMessage;
  /** The sound, once the stream has come to its own end. @throws when it did not, or was broken off */
  heard(): Promise<Buffer>;
  /** Breaks off the connection. */
  leave(): void;
}

/** POST /v2/text/synthesize with `Accept: text/event-stream`, over a connection of its own. */
export const openStream = async (
  url: string,
  website: Credentials,
  asked: Readonly<Record<string, unknown>>,
  form: HttpForm = "audio",
): Promise<OpenStream> => {
  const sent: ClientRequest = request(`${url}/v2/text/synthesize`, {
    method: "POST",
    agent: false,
    headers: { ...authorize(website), "Content-Type": "application/json", Accept: "text/event-stream" },
  });
  sent.end(JSON.stringify({ ...asked, ...(form === "sse" && { stream: true }) }));
  const [body] = (await once(sent, "response")) as [IncomingMessage];
  body.on("error", () => undefined);
  return {
    status: body.statusCode ?? 0,
    headers: body.headers as Record<string, string>,
    body,
    heard: async () => {
      const bytes = Buffer.concat(await body.toArray());
      return form === "sse" ? soundOf(eventsIn(bytes.toString())) : bytes;
    },
    leave: () => sent.destroy(),
  };
};

/** One of the chunks of spec 2.10, as an event tells it. */
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

/** @throws when they are not those of a whole stream, in its order */
export const soundOf = (events: readonly ChunkEvent[]): Buffer => {
  const [first, last] = [events[0], events.at(-1)];
  const chunks = events.slice(1, -1);
  const isInOrder = chunks.every(({ type, data }, index) => type === "audio" && data.chunkIndex === index);
  if (first?.type !== "metadata" || last?.type !== "end" || !isInOrder)
    throw new Error(`no whole stream: ${events.map(({ type }) => type)}`);
  const sound = Buffer.concat(chunks.map(({ data }) => Buffer.from(String(data.data), "base64")));
  if (last.data.totalBytes !== sound.length || last.data.totalChunks !== chunks.length)
    throw new Error("the end tells of another stream");
  return sound;
};

/** What the key's ledger tells of that type, in order. */
export const onTheLedger = async (
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

/** What the ledger tells of a stream's end, as soon as it does. */
export const endOnTheLedger = async (
  url: string,
  website: Credentials,
  requestId: unknown,
): Promise<Record<string, unknown>> => {
  for (;;) {
    const ends = await onTheLedger(url, website, "StreamEnded");
    const end = ends.find((one) => one.requestId === requestId);
    if (end) return end;
    await delay(10);
  }
};

/** How long a player plays it. @throws when it cannot be decoded without a complaint */
export const secondsOf = (sound: Buffer): Promise<number> =>
  new Promise((resolve, reject) => {
    const args = ["-v", "error", "-i", "pipe:0", "-f", "s16le", "-ac", "1", "-ar", "24000", "pipe:1"];
    const child = execFile(
      "ffmpeg",
      args,
      { encoding: "buffer", timeout: 15_000, killSignal: "SIGKILL", maxBuffer: 256 << 20 },
      (error, samples, complaints) => {
        if (error || complaints.length > 0) reject(new Error(`ffmpeg: ${complaints}`, { cause: error }));
        else resolve(samples.length / 2 / 24_000);
      },
    );
    child.stdin?.on("error", () => undefined).end(sound);
  });
