import { EventEmitter, once } from "node:events";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";
import { serveLocally } from "./local-server.ts";

/** A request that a receiver got. */
export interface ReceivedMessage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A webhook's receiver on the loopback interface. */
export interface WebhookReceiver {
  readonly url: string;
  readonly received: readonly ReceivedMessage[];
  /** Chooses the status of the responses; a promise delays them. Default: 204. */
  response: (message: ReceivedMessage, number: number) => number | Promise<number>;
  /** Resolves when this many messages have arrived. */
  seen(count: number): Promise<void>;
  close(): Promise<void>;
}

export const serveWebhookReceiver = async (): Promise<WebhookReceiver> => {
  const received: ReceivedMessage[] = [];
  const arrivals = new EventEmitter();
  const server = await serveLocally(async (request, response) => {
    const message = { headers: request.headers as Record<string, string>, body: await text(request) };
    received.push(message);
    arrivals.emit("message");
    const status = await receiver.response(message, received.length);
    response.writeHead(status, status >= 300 && status < 400 ? { Location: "/elsewhere" } : {}).end();
  });
  const receiver: WebhookReceiver = {
    url: `${server.url}/hook`,
    received,
    response: () => 204,
    seen: async (count) => {
      while (received.length < count) await once(arrivals, "message");
    },
    close: server.close,
  };
  return receiver;
};

/**
 * Verifies with the published library, whose clock is the real one.
 * @throws if the signature is not the secret's
 */
export const verifyMessage = ({ headers, body }: ReceivedMessage, secret: string): unknown =>
  new Webhook(secret).verify(body, headers);
