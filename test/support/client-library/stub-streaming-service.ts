import type { IncomingMessage, ServerResponse } from "node:http";
import { type WebSocket, WebSocketServer } from "ws";
import { type LocalServer, serveLocally, type TakeUpgrade } from "../local-server.ts";
import { configResponse } from "./stub-server.ts";

/** A synthesis that was asked for over a WebSocket, and what is said of it. */
export interface SocketSynthesis {
  readonly id: string;
  readonly request: Readonly<Record<string, unknown>>;
  readonly socket: WebSocket;
  send(message: object): void;
  sendFrame(chunkIndex: number, audio: Buffer): void;
}

/** What a made-up service does; all of it is the test's. */
export interface StubBehaviour {
  /** `GET /v2/text/synthesize`: a whole sound. */
  readonly whole?: (text: string, res: ServerResponse) => void;
  /** `POST` that accepts a stream. */
  readonly stream?: (asked: Readonly<Record<string, unknown>>, res: ServerResponse) => Promise<void> | void;
  /** The answer that refuses a handshake, in HTTP; undefined opens the socket. */
  readonly refuse?: (url: URL) => Refusal | undefined;
  /** `POST /v2/auth/refresh`, where it is refused. */
  readonly refuseRefresh?: () => Refusal | undefined;
  /** A connection was opened; false when it is not to be listened to. */
  readonly connected?: (socket: WebSocket, url: URL) => boolean;
  readonly synthesize?: (asked: SocketSynthesis) => Promise<void> | void;
  readonly cancelled?: (id: string) => void;
}

export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly retryAfter?: number;
}

export interface StubStreamingService extends LocalServer {
  /** What was asked for and how, in order: `whole a`, `stream a`, `connect ?token=…`, `refresh`, `socket a`, `cancel`. */
  readonly requests: readonly string[];
  readonly sockets: ReadonlySet<WebSocket>;
}

/** A real server that speaks as the service does, open to every page, whose answers are the test's to make up. */
export const startStubStreamingService = async (behaviour: StubBehaviour): Promise<StubStreamingService> => {
  const requests: string[] = [];
  let tokens = 0;
  const token = () => ({ token: `token-${++tokens}`, exp: Math.floor(Date.now() / 1_000) + 900 });

  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = addressed(req);
    for (const [name, value] of Object.entries(openToPages)) res.setHeader(name, value);
    if (req.method === "OPTIONS") return void res.writeHead(204).end();
    if (pathname === "/v2/config") return json(res, { ...(configResponse.body as object), auth: token() });
    if (pathname === "/v2/auth/refresh") {
      requests.push("refresh");
      const refused = behaviour.refuseRefresh?.();
      return refused ? refuse(res, refused) : json(res, token());
    }
    if (pathname !== "/v2/text/synthesize") return json(res, {}, 404);
    if (req.method === "GET") {
      const text = searchParams.get("text") ?? "";
      requests.push(`whole ${text}`);
      return behaviour.whole?.(text, res);
    }
    const body = JSON.parse(Buffer.concat(await req.toArray()).toString());
    requests.push(`${req.headers.accept === "text/event-stream" ? "stream" : "whole"} ${body.text}`);
    await behaviour.stream?.(body, res);
  };

  const sockets = new WebSocketServer({ noServer: true });
  const upgrade: TakeUpgrade = (req, connection, head) => {
    const url = addressed(req);
    requests.push(`connect ${url.search}`);
    const refused = behaviour.refuse?.(url);
    if (refused)
      return void connection.end(`HTTP/1.1 ${refused.status} Refused\r\nConnection: close\r\n\r\n`);
    sockets.handleUpgrade(req, connection, head, (socket) => {
      sockets.emit("connection", socket, req);
      if (behaviour.connected?.(socket, url) === false) return;
      socket.on("message", (data) => {
        const { type, id, request } = JSON.parse(String(data));
        requests.push(type === "cancel" ? "cancel" : `socket ${request.text}`);
        if (type === "cancel") return behaviour.cancelled?.(id);
        void behaviour.synthesize?.({ id, request, socket, ...speaking(socket, id) });
      });
    });
  };

  const server = await serveLocally((req, res) => void answer(req, res), upgrade);
  return {
    url: server.url,
    requests,
    sockets: sockets.clients,
    close: async () => {
      for (const socket of sockets.clients) socket.terminate();
      await server.close();
    },
  };
};

const addressed = ({ url = "" }: IncomingMessage): URL => new URL(url, "http://127.0.0.1");

const openToPages = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Allow-Headers": "Authorization, Content-Type, X-API-Key",
  "Access-Control-Expose-Headers": "SVC-Prosody-Applied, Retry-After",
};

const json = (res: ServerResponse, body: object, status = 200): void => {
  res.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
};

const refuse = (res: ServerResponse, { status, code, retryAfter }: Refusal): void => {
  if (retryAfter !== undefined) res.setHeader("Retry-After", retryAfter);
  json(res, { error: { message: `it was ${code}`, statusCode: status, code } }, status);
};

const speaking = (socket: WebSocket, id: string): Pick<SocketSynthesis, "send" | "sendFrame"> => ({
  send: (message) => socket.send(JSON.stringify({ id, ...message })),
  sendFrame: (chunkIndex, audio) => {
    const index = Buffer.alloc(4);
    index.writeUInt32BE(chunkIndex);
    socket.send(Buffer.concat([Buffer.from([0x01]), Buffer.from(id, "ascii"), index, audio]));
  },
});
