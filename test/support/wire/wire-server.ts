import { EventEmitter, once } from "node:events";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { serveLocally } from "../local-server.ts";
import { type Fault, type Faults, htmlResponse, plannedFaults, type WireResponse } from "./faults.ts";

/** A received request and its outcome. */
export interface SeenRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Undefined until the response head was written. */
  readonly status: number | undefined;
  readonly bytesSent: number;
  /**
   * `left`: the client closed the connection before the response was complete; `cut`: the server
   * did.
   */
  readonly outcome: "active" | "answered" | "left" | "cut";
}

/** The responses of a provider, apart from faults. */
export interface WireProvider {
  response(request: SeenRequest): Promise<WireResponse>;
  refusal(status: number, message?: string): WireResponse;
  /** 200 without audio. */
  readonly empty: WireResponse;
  /** 200 with data that is not audio. */
  readonly malformed: WireResponse;
}

export interface WireServer {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** In order of arrival; a request is listed when its body has been read. */
  readonly requests: readonly SeenRequest[];
  readonly faults: Faults;
  /** Requests whose response is neither complete nor cut. */
  activeRequests(): number;
  /** Resolves when no request is active. */
  idle(): Promise<void>;
  /** Resolves when this many requests have arrived since the start. */
  seen(count: number): Promise<SeenRequest>;
  /** Resolves when the condition holds; it is checked whenever a request changes. */
  until(holds: () => boolean): Promise<void>;
  close(): Promise<void>;
}

export interface WireServerOptions {
  /** The size of the chunks of a response body. Default: 4096. */
  readonly chunkBytes?: number;
}

type Moving = { -readonly [Key in keyof SeenRequest]: SeenRequest[Key] };

/** Serves a provider's API on the loopback interface, records every request, and injects faults. */
export const serveWire = async (
  provider: WireProvider,
  { chunkBytes = 4096 }: WireServerOptions = {},
): Promise<WireServer> => {
  const requests: Moving[] = [];
  const faults = plannedFaults();
  const moves = new EventEmitter().setMaxListeners(0);
  let active = 0;
  const moved = () => moves.emit("move");
  const until = async (holds: () => boolean) => {
    while (!holds()) await once(moves, "move");
  };

  const serve = async (req: IncomingMessage, res: ServerResponse) => {
    const leaving = new AbortController();
    active++;
    res.on("close", () => {
      active--;
      leaving.abort(new Error("the client left"));
      moved();
    });
    const seen: Moving = {
      method: req.method ?? "",
      path: req.url ?? "",
      headers: req.headers,
      body: Buffer.concat(await req.toArray()),
      status: undefined,
      bytesSent: 0,
      outcome: "active",
    };
    requests.push(seen);
    res.on("close", () => {
      if (seen.outcome === "active") seen.outcome = res.writableFinished ? "answered" : "left";
    });
    moved();
    const fault = faults.take();
    await deliver({ res, seen, fault, chunkBytes, moved, left: leaving.signal }, () =>
      fault ? responseOf(provider, seen, fault) : provider.response(seen),
    );
  };

  const server = await serveLocally((req, res) => {
    // Tests abort clients on purpose; any other error destroys the connection.
    serve(req, res).catch(() => res.destroy());
  });
  return {
    url: server.url,
    requests,
    faults,
    activeRequests: () => active,
    idle: () => until(() => active === 0),
    seen: async (count) => {
      await until(() => requests.length >= count);
      return requests[count - 1] as SeenRequest;
    },
    until,
    close: server.close,
  };
};

const responseOf = async (provider: WireProvider, seen: SeenRequest, fault: Fault): Promise<WireResponse> => {
  switch (fault.kind) {
    case "empty":
      return provider.empty;
    case "malformed":
      return provider.malformed;
    case "html":
      return htmlResponse;
    case "answer":
      return fault.response;
    case "refusal": {
      const { status, headers, body } = provider.refusal(fault.status, fault.message);
      const wait = fault.retryAfter === undefined ? {} : { "Retry-After": fault.retryAfter };
      return { status, headers: { ...headers, ...wait }, body };
    }
    default:
      return provider.response(seen);
  }
};

interface Delivery {
  readonly res: ServerResponse;
  readonly seen: Moving;
  readonly fault: Fault | undefined;
  readonly chunkBytes: number;
  readonly left: AbortSignal;
  moved(): void;
}

const deliver = async (delivery: Delivery, makeResponse: () => Promise<WireResponse>): Promise<void> => {
  const { res, seen, fault, left, moved } = delivery;
  const cut = () => {
    seen.outcome = "cut";
    res.destroy();
  };
  if (fault?.kind === "hang") return;
  if (fault?.kind === "cut before the answer") return cut();
  const { status, headers, body } = await makeResponse();
  if (fault?.kind === "slow") await fault.gate.pass(left);
  seen.status = status;
  res.writeHead(status, headers).flushHeaders();
  moved();
  const end = fault?.kind === "cut" ? (fault.afterBytes ?? body.length >> 1) : body.length;
  await sendBody(delivery, body.subarray(0, end));
  if (fault?.kind === "cut") cut();
  else res.end();
};

/** Sends the body with backpressure. */
const sendBody = async ({ res, seen, fault, chunkBytes, left, moved }: Delivery, body: Buffer) => {
  for (let at = 0; at < body.length; at += chunkBytes) {
    if (fault?.kind === "trickle") await fault.gate.pass(left);
    left.throwIfAborted();
    const chunk = body.subarray(at, at + chunkBytes);
    await new Promise<void>((resolve, reject) => {
      res.write(chunk, (error) => (error ? reject(error) : resolve()));
    });
    seen.bytesSent += chunk.length;
    moved();
  }
};

export const json = (status: number, value: unknown): WireResponse => {
  const body = Buffer.from(JSON.stringify(value));
  return {
    status,
    headers: { "Content-Type": "application/json; charset=UTF-8", "Content-Length": String(body.length) },
    body,
  };
};

/**
 * For providers whose response body is the audio itself: an empty one, and one that is not audio.
 */
export const soundless: Pick<WireProvider, "empty" | "malformed"> = {
  empty: { status: 200, headers: { "Content-Type": "audio/mpeg" }, body: Buffer.alloc(0) },
  malformed: {
    status: 200,
    headers: { "Content-Type": "application/json" },
    body: Buffer.from('{"not": "audio'),
  },
};

/** Thrown by a provider to refuse a request. */
export class Refused extends Error {
  readonly response: WireResponse;

  constructor(response: WireResponse) {
    super("refused");
    this.response = response;
  }
}

/** The provider with thrown refusals turned into responses. */
export const refusing = (provider: WireProvider): WireProvider => ({
  ...provider,
  response: (request) =>
    provider.response(request).catch((error: unknown) => {
      if (error instanceof Refused) return error.response;
      throw error;
    }),
});
