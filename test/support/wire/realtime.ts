import { EventEmitter, once } from "node:events";
import type { RequestListener } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { z } from "zod";
import { serveLocally, type TakeUpgrade } from "../local-server.ts";
import type { WireResponse } from "./faults.ts";
import { makeSound } from "./made-sound.ts";
import { openAiApiKey } from "./openai.ts";
import { json } from "./wire-server.ts";

/** How a realtime model behaves in one session. */
export type Behaviour =
  /** Other words in the transcript; the audio is that of the text. */
  | { readonly kind: "reword"; readonly transcript: (text: string) => string }
  /** The handshake is refused. */
  | { readonly kind: "refusal"; readonly response: WireResponse }
  /** The handshake is never completed. */
  | { readonly kind: "unresponsive" }
  /** An `error` event instead of audio, or after the first part of it. */
  | {
      readonly kind: "error";
      readonly error: Readonly<Record<string, unknown>>;
      readonly midway?: boolean;
    }
  /** `response.done` with this status after the first part of the audio. */
  | { readonly kind: "done"; readonly response: Readonly<Record<string, unknown>> }
  /** Destroys or closes the connection after the first part of the audio. */
  | { readonly kind: "cut" | "close" }
  /** Sends nothing after the first part of the audio, or nothing at all. */
  | { readonly kind: "stop"; readonly midway: boolean }
  /** Sends this message after the first part of the audio. */
  | { readonly kind: "message"; readonly message: string | Buffer }
  /** Leaves out all events of this type. */
  | { readonly kind: "without"; readonly type: string }
  /** Events of other types and of other responses in between. */
  | { readonly kind: "noise" };

/** A session and what became of it. */
export interface SeenSession {
  readonly path: string;
  readonly authorization: string | undefined;
  /** Messages of the client. */
  readonly messages: readonly Readonly<Record<string, unknown>>[];
  readonly isOpen: boolean;
}

export interface RealtimeServer {
  readonly url: string;
  readonly sessions: readonly SeenSession[];
  /** Sets the behaviour of the next sessions, in order. Later sessions behave well. */
  next(...behaviours: readonly Behaviour[]): void;
  always(behaviour: Behaviour): void;
  /** Resolves when the condition holds; it is checked whenever a session changes. */
  until(holds: () => boolean): Promise<void>;
  close(): Promise<void>;
}

const sessionUpdate = z.strictObject({
  type: z.literal("session.update"),
  session: z.strictObject({
    type: z.literal("realtime"),
    output_modalities: z.tuple([z.literal("audio")]),
    audio: z.strictObject({
      input: z.strictObject({ turn_detection: z.null() }),
      output: z.strictObject({
        format: z.strictObject({ type: z.literal("audio/pcm"), rate: z.literal(24_000) }),
        voice: z.enum([
          "alloy",
          "ash",
          "ballad",
          "coral",
          "echo",
          "sage",
          "shimmer",
          "verse",
          "marin",
          "cedar",
        ]),
        speed: z.number().min(0.25).max(1.5).default(1),
      }),
    }),
  }),
});

const responseCreate = z.strictObject({
  type: z.literal("response.create"),
  response: z.strictObject({
    conversation: z.literal("none"),
    output_modalities: z.tuple([z.literal("audio")]),
    instructions: z.string().min(1),
    input: z.tuple([
      z.strictObject({
        type: z.literal("message"),
        role: z.literal("user"),
        content: z.tuple([z.strictObject({ type: z.literal("input_text"), text: z.string().min(1) })]),
      }),
    ]),
  }),
});

/** Bytes of samples in a delta. */
const deltaBytes = 9_600;

type Moving = { -readonly [Key in keyof SeenSession]: SeenSession[Key] } & {
  messages: Readonly<Record<string, unknown>>[];
};

/**
 * OpenAI's realtime API for one model over loopback: `GET /v1/realtime?model=…`, and `GET
 * /v1/models`.
 */
export const serveRealtime = async ({
  model = "gpt-realtime-2.1-mini",
}: {
  readonly model?: string;
} = {}): Promise<RealtimeServer> => {
  const planned: Behaviour[] = [];
  let lasting: Behaviour | undefined;
  const sessions: Moving[] = [];
  const moves = new EventEmitter().setMaxListeners(0);
  const sockets = new WebSocketServer({ noServer: true });
  const open = new Set<Duplex>();

  const listModels: RequestListener = (request, response) => {
    const isKnown = request.headers.authorization === `Bearer ${openAiApiKey}`;
    const { status, headers, body } =
      request.url === "/v1/models" && isKnown
        ? json(200, { object: "list", data: [{ id: model, object: "model" }] })
        : json(isKnown ? 404 : 401, { error: { message: "No.", type: "invalid_request_error" } });
    response.writeHead(status, headers).end(body);
  };
  const upgrade: TakeUpgrade = (request, socket, head) => {
    open.add(socket.on("close", () => open.delete(socket)).on("error", () => undefined));
    const behaviour = planned.shift() ?? lasting;
    const { authorization } = request.headers;
    const seen: Moving = { path: request.url ?? "", authorization, messages: [], isOpen: true };
    sessions.push(seen);
    moves.emit("move");
    socket.on("close", () => {
      seen.isOpen = false;
      moves.emit("move");
    });
    if (behaviour?.kind === "unresponsive") return void socket.on("end", () => socket.end()).resume();
    if (behaviour?.kind === "refusal") return refuse(socket, behaviour.response);
    if (authorization !== `Bearer ${openAiApiKey}`)
      return refuse(
        socket,
        json(401, {
          error: { message: `Incorrect API key provided: ${authorization}.`, code: "invalid_api_key" },
        }),
      );
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      converse(webSocket, behaviour, model, (message) => {
        seen.messages.push(message);
        moves.emit("move");
      });
    });
  };
  const server = await serveLocally(listModels, upgrade);

  return {
    url: server.url,
    sessions,
    next: (...behaviours) => void planned.push(...behaviours),
    always: (behaviour) => {
      lasting = behaviour;
    },
    until: async (holds) => {
      while (!holds()) await once(moves, "move");
    },
    close: async () => {
      for (const socket of open) socket.destroy();
      await server.close();
    },
  };
};

const refuse = (socket: Duplex, { status, headers, body }: WireResponse): void => {
  const lines = Object.entries({ ...headers, "Content-Length": String(body.length), Connection: "close" });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  socket.end(Buffer.concat([Buffer.from(`HTTP/1.1 ${status} Refused\r\n${head}\r\n`), body]));
};

const converse = (
  webSocket: WebSocket,
  behaviour: Behaviour | undefined,
  model: string,
  onMessage: (message: Readonly<Record<string, unknown>>) => void,
): void => {
  let voice = "alloy";
  let speed = 1;
  const send = (event: Readonly<Record<string, unknown>>): void => {
    if (behaviour?.kind === "without" && behaviour.type === event.type) return;
    webSocket.send(JSON.stringify({ event_id: "event_1", ...event }));
  };
  const invalid = (message: string): void =>
    send({ type: "error", error: { type: "invalid_request_error", code: "invalid_value", message } });
  send({ type: "session.created", session: { model } });
  webSocket.on("error", () => undefined);
  webSocket.on("message", (data) => {
    const message = JSON.parse(String(data));
    onMessage(message);
    if (message.type === "session.update") {
      const { data: update, error } = sessionUpdate.safeParse(message);
      if (!update) return invalid(`Invalid session: ${error.issues[0]?.path.join(".")}.`);
      ({ voice, speed } = update.session.audio.output);
      send({ type: "session.updated", session: update.session });
    } else if (message.type === "response.create") {
      const { data: create, error } = responseCreate.safeParse(message);
      if (!create) return invalid(`Invalid response: ${error.issues[0]?.path.join(".")}.`);
      void speak(create.response.input[0].content[0].text);
    }
  });

  const speak = async (text: string): Promise<void> => {
    const format = { kind: "pcm", sampleRate: 24_000 } as const;
    const speaker = voice === "cedar" ? "gmw/en-US+m3" : "gmw/en-US+f3";
    const samples = await makeSound({ text, voice: speaker, rate: speed, format });
    const ids = { response_id: "resp_own", item_id: "item_1", output_index: 0, content_index: 0 };
    send({ type: "response.created", response: { id: "resp_own", status: "in_progress" } });
    if (behaviour?.kind === "error" && !behaviour.midway)
      return send({ type: "error", error: behaviour.error });
    if (behaviour?.kind === "stop" && !behaviour.midway) return;
    send({ type: "response.output_item.added", ...ids });
    for (let at = 0; at < samples.length; at += deltaBytes) {
      const delta = samples.toString("base64", at, at + deltaBytes);
      if (behaviour?.kind === "noise") {
        send({ type: "rate_limits.updated", rate_limits: [] });
        send({ type: "response.output_audio.delta", ...ids, response_id: "resp_other", delta });
        send({
          type: "response.output_audio_transcript.done",
          ...ids,
          response_id: "resp_other",
          transcript: "no",
        });
        send({ type: "response.done", response: { id: "resp_other", status: "failed" } });
      }
      send({ type: "response.output_audio.delta", ...ids, delta });
      if (at === 0 && isOver(behaviour, webSocket, send)) return;
    }
    const transcript = behaviour?.kind === "reword" ? behaviour.transcript(text) : text;
    send({ type: "response.output_audio.done", ...ids });
    send({ type: "response.output_audio_transcript.delta", ...ids, delta: transcript });
    send({ type: "response.output_audio_transcript.done", ...ids, transcript });
    const usage = { total_tokens: 90, input_tokens: 40, output_tokens: 50 };
    send({ type: "response.done", response: { id: "resp_own", status: "completed", usage } });
  };
};

/** True if the session does not go on after the first part of the audio. */
const isOver = (
  behaviour: Behaviour | undefined,
  webSocket: WebSocket,
  send: (event: Readonly<Record<string, unknown>>) => void,
): boolean => {
  switch (behaviour?.kind) {
    case "cut":
      webSocket.terminate();
      return true;
    case "close":
      webSocket.close(1000);
      return true;
    case "stop":
      return true;
    case "error":
      send({ type: "error", error: behaviour.error });
      return true;
    case "done":
      send({ type: "response.done", response: { id: "resp_own", ...behaviour.response } });
      return true;
    case "message":
      webSocket.send(behaviour.message);
      return true;
    default:
      return false;
  }
};
