import { setTimeout as delay } from "node:timers/promises";
import type { ErrorResponse } from "../../src/http/kernel/errors/error-response.ts";
import { pollTimeoutMs } from "./processes.ts";
import { adminToken } from "./service.ts";

export interface Credentials {
  readonly id: string;
  readonly apiKey: string;
  readonly apiSecret: string;
}

export const authorize = ({ apiKey, apiSecret }: Credentials): Record<string, string> => ({
  "X-API-Key": apiKey,
  "X-API-Secret": apiSecret,
});

/** Calls the admin API. Resolves with the status and the JSON body. */
export const admin = async (
  url: string,
  method: string,
  path: string,
  body?: object,
): Promise<{ status: number; body: Record<string, unknown> }> => {
  const response = await fetch(`${url}/admin${path}`, {
    method,
    headers: { Authorization: `Bearer ${adminToken}`, ...(body && { "Content-Type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? {} : JSON.parse(text) };
};

/** Registers a website; the default plan is large enough that no limit applies. */
export const registerWebsite = async (
  url: string,
  plan: Partial<Record<string, unknown>> = {},
): Promise<Credentials> => {
  const { status, body } = await admin(url, "POST", "/websites", {
    name: "a test's website",
    plan: { tier: "enterprise", requestsPerMinute: 1_000_000, monthlyCharacters: null, ...plan },
  });
  if (status !== 201) throw new Error(`the website was not registered: ${JSON.stringify(body)}`);
  return body as unknown as Credentials;
};

/** GET /v2/text/synthesize. */
export const synthesize = (
  url: string,
  credentials: Credentials,
  query: Record<string, string>,
  init: RequestInit = {},
): Promise<Response> =>
  fetch(`${url}/v2/text/synthesize?${new URLSearchParams(query)}`, {
    ...init,
    headers: { ...authorize(credentials), ...(init.headers as Record<string, string>) },
  });

/** POST /v2/text/synthesize. */
export const synthesizeByPost = (
  url: string,
  credentials: Credentials,
  body: unknown,
  init: Pick<RequestInit, "signal"> = {},
): Promise<Response> =>
  fetch(`${url}/v2/text/synthesize`, {
    ...init,
    method: "POST",
    headers: { ...authorize(credentials), "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });

/** Asks again while a queue of the service is full, as it may be on a busy machine. */
export const fetchWhenFree = async (url: string, init: RequestInit = {}): Promise<Response> => {
  for (const end = Date.now() + pollTimeoutMs; ; await delay(100)) {
    const response = await fetch(url, init);
    if (![429, 503].includes(response.status) || Date.now() > end) return response;
    // Other limits, and failures such as those of an encoder, must not be hidden.
    const { code, message } = await errorOf(response.clone());
    if (response.status === 429 && code !== "KEY_OVERLOADED") return response;
    if (!isOverloaded(message)) return response;
    await response.body?.cancel();
  }
};

/** True if the message of an error says that a request had to wait too long, on a busy machine. */
export const isOverloaded = (message: string): boolean =>
  /^(?:Too many |The audio was not ready)/.test(message);

/** The error object of an error envelope. */
export const errorOf = async (response: Response): Promise<ErrorResponse["error"]> =>
  ((await response.json()) as ErrorResponse).error;

export const bytesOf = async (response: Response): Promise<Buffer> =>
  Buffer.from(await response.arrayBuffer());
