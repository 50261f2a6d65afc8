import type { IncomingMessage, ServerResponse } from "node:http";
import { type WebSocket, WebSocketServer } from "ws";
import { type LocalServer, serveLocally, type TakeUpgrade } from "../local-server.ts";
import { configResponse } from "./stub-server.ts";

/** A synthesis requested over a WebSocket, and functions that send its messages. */
export interface SocketSynthesis {
  readonly id: string;
  readonly request: Readonly<Record<string, unknown>>;
  readonly socket: WebSocket;
  send(message: object): void;
  sendFrame(chunkIndex: number, audio: Buffer): void;
}

/** The behaviour of the stub. */
export interface StubBehaviour {
  /** `GET /v2/text/synthesize` */
  readonly download?: (text: string, res: ServerResponse) => void;
  /** `POST /v2/text/synthesize` */
  readonly stream?: (body: Readonly<Record<string, unknown>>, res: ServerResponse) => Promise<void> | void;
  /** The HTTP response that refuses a handshake; undefined accepts it. */
  readonly refuse?: (url: URL) => Refusal | undefined;
  /** The response that refuses `POST /v2/auth/refresh`; undefined issues a token. */
  readonly refuseRefresh?: () => Refusal | undefined;
  readonly synthesize?: (synthesis: SocketSynthesis) => Promise<void> | void;
  readonly cancelled?: (id: string) => void;
}

export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly retryAfter?: number;
}

export interface StubStreamingService extends LocalServer {
  /**
   * The requests in order: `download TEXT`, `stream TEXT`, `connect ?token=…`, `refresh`, `socket
   * TEXT`, `cancel`.
   */
  readonly requests: readonly string[];
  readonly sockets: ReadonlySet<WebSocket>;
}

/**
 * A server with the service's streaming endpoints and with CORS for all origins, whose responses
 * the test defines.
 */
export const startStubStreamingService = async (behaviour: StubBehaviour): Promise<StubStreamingService> => {
  const requests: string[] = [];
  let tokens = 0;
  const token = () => ({ token: `token-${++tokens}`, exp: Math.floor(Date.now() / 1_000) + 900 });

  const handle = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = urlOf(req);
    for (const [name, value] of Object.entries(corsHeaders)) res.setHeader(name, value);
    if (req.method === "OPTIONS") return void res.writeHead(204).end();
    if (pathname === "/v2/config") return json(res, { ...(configResponse.body as object), auth: token() });
    if (pathname === "/v2/auth/refresh") {
      requests.push("refresh");
      const refusal = behaviour.refuseRefresh?.();
      return refusal ? refuse(res, refusal) : json(res, token());
    }
    if (pathname !== "/v2/text/synthesize") return json(res, {}, 404);
    if (req.method === "GET") {
      const text = searchParams.get("text") ?? "";
      requests.push(`download ${text}`);
      return behaviour.download?.(text, res);
    }
    const body = JSON.parse(Buffer.concat(await req.toArray()).toString());
    requests.push(`${req.headers.accept === "text/event-stream" ? "stream" : "download"} ${body.text}`);
    await behaviour.stream?.(body, res);
  };

  const sockets = new WebSocketServer({ noServer: true });
  const upgrade: TakeUpgrade = (req, connection, head) => {
    const url = urlOf(req);
    requests.push(`connect ${url.search}`);
    const refusal = behaviour.refuse?.(url);
    if (refusal)
      return void connection.end(`HTTP/1.1 ${refusal.status} Refused\r\nConnection: close\r\n\r\n`);
    sockets.handleUpgrade(req, connection, head, (socket) => {
      sockets.emit("connection", socket, req);
      socket.on("message", (data) => {
        const { type, id, request } = JSON.parse(String(data));
        requests.push(type === "cancel" ? "cancel" : `socket ${request.text}`);
        if (type === "cancel") return behaviour.cancelled?.(id);
        void behaviour.synthesize?.({ id, request, socket, ...senders(socket, id) });
      });
    });
  };

  const server = await serveLocally((req, res) => void handle(req, res), upgrade);
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

const urlOf = ({ url = "" }: IncomingMessage): URL => new URL(url, "http://127.0.0.1");

const corsHeaders = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Allow-Headers": "Authorization, Content-Type, X-API-Key",
  "Access-Control-Expose-Headers": "SVC-Prosody-Applied, Retry-After",
};

const json = (res: ServerResponse, body: object, status = 200): void => {
  res.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
};

const refuse = (res: ServerResponse, { status, code, retryAfter }: Refusal): void => {
  if (retryAfter !== undefined) res.setHeader("Retry-After", retryAfter);
  json(res, { error: { message: `code ${code}`, statusCode: status, code } }, status);
};

const senders = (socket: WebSocket, id: string): Pick<SocketSynthesis, "send" | "sendFrame"> => ({
  send: (message) => socket.send(JSON.stringify({ id, ...message })),
  sendFrame: (chunkIndex, audio) => {
    const index = Buffer.alloc(4);
    index.writeUInt32BE(chunkIndex);
    socket.send(Buffer.concat([Buffer.from([0x01]), Buffer.from(id, "ascii"), index, audio]));
  },
});
