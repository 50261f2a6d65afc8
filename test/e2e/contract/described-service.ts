import { expect } from "chai";
import { createHttpContract, type Described, type HttpContract, operationsOf } from "../../contracts/http.ts";
import { authorize, type Credentials, registerWebsite } from "../../support/client.ts";
import { type Exchange, openExchange, type Received, type Sent } from "../../support/exchange.ts";
import { adminToken, type RunningService, startService, temporaryFolder } from "../../support/service.ts";
import { serveProviders, type WireProviders } from "../../support/wire/providers.ts";

export const operator = { Authorization: `Bearer ${adminToken}` };
export const auditorToken = "an-auditor's-token-for-tests";
export const auditor = { Authorization: `Bearer ${auditorToken}` };
export const json = { "Content-Type": "application/json" };
export const spoken = "voice=UK%20English%20Female&text=Held+to+its+word";
export const legacy = "lang=en-GB&text=Held+to+its+word";
export const report = {
  platform: { browser: "Firefox", browserVersion: "131", os: "Linux", osVersion: "6" },
  voices: [{ name: "espeak", lang: "en-GB", voiceURI: "urn:espeak", localService: true }],
  timestamp: "2026-11-21T08:00:00Z",
};
export const handshake = {
  Connection: "Upgrade",
  Upgrade: "websocket",
  "Sec-WebSocket-Version": "13",
  "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
};
export const oversized = JSON.stringify({ text: "x".repeat(1_100_000) });

export type DescribedApi = ReturnType<typeof describedService>;

/**
 * A service whose responses are compared with its OpenAPI document. It runs during the suite that
 * calls this function.
 */
export const describedService = () => {
  let providers: WireProviders;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let service: RunningService;
  let connection: ReturnType<typeof openExchange>;
  let document: Described;
  let contract: HttpContract;
  let website: Credentials;
  const refusals = new Set<string>();
  const rules: (() => Promise<void>)[] = [];

  /** Defines a test that runs once, whether mocha runs it or `allResponses` needs it. */
  const rule = (title: string, run: () => Promise<void>): void => {
    let result: Promise<void> | undefined;
    const once = (): Promise<void> => (result ??= run());
    rules.push(once);
    it(title, once);
  };

  before(async () => {
    folder = await temporaryFolder();
    providers = await serveProviders();
    service = await startService(folder.path, {
      TRUST_PROXY: "127.0.0.1",
      AUDITOR_TOKEN: auditorToken,
      VOICE_GALLERY: "on",
      ALLOW_LOOPBACK_UPSTREAMS: "true", // a website's page is on this machine
      ...providers.env,
    });
    connection = openExchange(service.url);
    const { body } = await connection.exchange({ method: "GET", path: "/openapi.json" });
    document = JSON.parse(body.toString());
    contract = createHttpContract(document);
    website = await registerWebsite(service.url);
  });
  after(async () => {
    connection.close();
    await service.stop();
    await providers.close();
    await folder.remove();
  });

  /** Validates the responses of an exchange against the document. */
  const validated =
    (exchange: Exchange): Exchange =>
    async (sent) => {
      const received = await exchange(sent);
      const place = `${sent.method} ${sent.path.slice(0, 200)}`;
      expect(contract.deviations(sent, received), place).to.deep.equal([]);
      expect(received.headers["x-request-id"], place).to.match(/^[0-9a-f-]{36}$/);
      if (received.status >= 400 && received.body.length > 0) refusals.add(messageIn(received));
      return received;
    };

  const ask = validated((sent) => connection.exchange(sent));

  const expectStatus = async (status: number, sent: Sent): Promise<Received> => {
    const received = await ask(sent);
    const exchange = `${sent.method} ${sent.path.slice(0, 200)}: ${received.body.subarray(0, 300)}`;
    expect(received.status, exchange).to.equal(status);
    return received;
  };

  const get = (status: number, path: string, headers: Record<string, string> = authorize(website)) =>
    expectStatus(status, { method: "GET", path, headers });

  const send = (
    status: number,
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = { ...operator, ...json },
  ) =>
    expectStatus(status, {
      method,
      path,
      headers,
      body: typeof body === "string" || body === undefined ? body : JSON.stringify(body),
    });

  const asJson = ({ body }: Received) => JSON.parse(body.toString());

  /** The message of an error, in the envelope of any API. */
  const messageIn = (received: Received): string => {
    const { error, detail } = asJson(received);
    return (error ?? detail).message;
  };

  /** A valid request without credentials for every operation of websites. */
  const requestsOfWebsites = (operations = operationsOf(document)): Sent[] =>
    operations
      .filter(({ operation }) => operation.security?.some((scheme) => "apiSecret" in scheme))
      .map(({ method, path, operation }) => {
        if ("101" in operation.responses) return { method, path, headers: handshake };
        const query = `?${path.startsWith("/v1") ? legacy : spoken}&start_time=1793836800`;
        const filled = path
          .replace("{lang}", "en-GB")
          .replace("{name}", "UK%20English%20Female")
          .replace("{model}", "tts-1")
          .replace("{voice_id}", "UK_English_Female");
        const speech = { voice: "UK English Female", text: "x", model: "tts-1", input: "x" };
        const body = path.endsWith("/report") ? report : speech;
        return method === "POST"
          ? { method, path: filled, headers: json, body: JSON.stringify(body) }
          : { method, path: filled + query };
      });

  const as = ({ headers, ...sent }: Sent, credentials: Record<string, string>): Sent => ({
    ...sent,
    headers: { ...headers, ...credentials },
  });

  return {
    rule,
    /** Resolves when all rules have run, also where mocha has left some out. */
    allResponses: async (): Promise<void> => {
      for (const once of rules) await once();
    },
    validated,
    ask,
    expectStatus,
    get,
    send,
    asJson,
    requestsOfWebsites,
    as,
    refusals,
    // Known when the service has started.
    get website() {
      return website;
    },
    get document() {
      return document;
    },
    get service() {
      return service;
    },
    get providers() {
      return providers;
    },
    get contract() {
      return contract;
    },
  };
};
