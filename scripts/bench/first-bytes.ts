import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import type { WebSocket } from "ws";

/**
 * Requests the text and returns the milliseconds to the first audio byte, after the response has
 * ended.
 */
export type Listen = (text: string) => Promise<number>;

export interface Posted {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyOf: (text: string) => object;
  /** True if the data received so far contains audio. */
  readonly containsAudio: (body: string) => boolean;
}

/** Listens over keep-alive connections. */
export const listenByPost = ({ url, headers, bodyOf, containsAudio }: Posted): Listen => {
  const agent = new Agent({ keepAlive: true });
  return async (text) => {
    const body = JSON.stringify(bodyOf(text));
    const length = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) };
    const began = performance.now();
    const sent = request(url, { method: "POST", agent, headers: { ...headers, ...length } }).end(body);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    if (response.statusCode !== 200) throw new Error(`answered with ${response.statusCode}`);
    let audioAfter: number | undefined;
    let received = "";
    for await (const chunk of response) {
      if (audioAfter !== undefined) continue;
      received += chunk.toString("latin1");
      if (containsAudio(received)) audioAfter = performance.now() - began;
    }
    if (audioAfter === undefined) throw new Error("no audio was received");
    return audioAfter;
  };
};

/** Listens over one open WebSocket. */
export const listenBySocket = (socket: WebSocket, voice: string): Listen => {
  const listening = new Map<string, (data: Buffer, isBinary: boolean) => void>();
  socket.on("message", (data: Buffer, isBinary) => {
    const id = isBinary ? data.toString("latin1", 1, 37) : JSON.parse(data.toString()).id;
    listening.get(id)?.(data, isBinary);
  });
  return async (text) => {
    const id = randomUUID();
    const over = Promise.withResolvers<number>();
    const began = performance.now();
    let audioAfter = Number.NaN;
    listening.set(id, (data, isBinary) => {
      if (isBinary) audioAfter ||= performance.now() - began;
      else if (data.includes('"error"')) over.reject(new Error(data.toString()));
      else if (data.includes('"stream_end"')) over.resolve(audioAfter);
    });
    socket.send(JSON.stringify({ type: "synthesize", id, request: { voice, text } }));
    return await over.promise.finally(() => listening.delete(id));
  };
};
