import { expect } from "chai";
import type { ErrorResponse } from "../../src/http/kernel/error-response.ts";
import { createHttpContract, type Described, type HttpContract, operationsOf } from "../contracts/http.ts";
import { admin, authorize, type Credentials, registerWebsite } from "../support/client.ts";
import { type Exchange, openExchange, type Received, type Sent, sendBytes } from "../support/exchange.ts";
import { adminToken, type RunningService, startService, temporaryFolder } from "../support/service.ts";
import { openWebSocketClient } from "../support/websocket-client.ts";
import { goodCredentials, serveProviders, type WireProviders } from "../support/wire/providers.ts";

/** The documented responses that this test cannot provoke. */
const unseeable = [
  // The service has no known fault.
  / 500$/,
  // Only POST reaches a provider that can fail here.
  /^GET .* 502$/,
  // The event store is always available here; test/application covers its failures.
  / 503$/,
];

const operator = { Authorization: `Bearer ${adminToken}` };
const json = { "Content-Type": "application/json" };
const spoken = "voice=UK%20English%20Female&text=Held+to+its+word";
const legacy = "lang=en-GB&text=Held+to+its+word";
const report = {
  platform: { browser: "Firefox", browserVersion: "131", os: "Linux", osVersion: "6" },
  voices: [{ name: "espeak", lang: "en-GB", voiceURI: "urn:espeak", localService: true }],
  timestamp: "2026-11-21T08:00:00Z",
};
const handshake = {
  Connection: "Upgrade",
  Upgrade: "websocket",
  "Sec-WebSocket-Version": "13",
  "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
};
const oversized = JSON.stringify({ text: "x".repeat(1_100_000) });

describe("the OpenAPI document", function () {
  this.timeout(60_000);
  let providers: WireProviders;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let service: RunningService;
  let connection: ReturnType<typeof openExchange>;
  let document: Described;
  let contract: HttpContract;
  let website: Credentials;
  const refusals = new Set<string>();

  before(async () => {
    folder = await temporaryFolder();
    providers = await serveProviders();
    service = await startService(folder.path, { TRUST_PROXY: "127.0.0.1", ...providers.env });
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

  /** Sends a request, and validates the response against the document. */
  const ask: Exchange = async (sent) => {
    const received = await connection.exchange(sent);
    const place = `${sent.method} ${sent.path.slice(0, 200)}`;
    expect(contract.deviations(sent, received), place).to.deep.equal([]);
    expect(received.headers["x-request-id"], place).to.match(/^[0-9a-f-]{36}$/);
    if (received.status >= 400 && received.body.length > 0) refusals.add(asJson(received).error.message);
    return received;
  };

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

  /** A valid request without credentials for every operation of websites. */
  const requestsOfWebsites = (): Sent[] =>
    operationsOf(document)
      .filter(({ operation }) => operation.security?.some((scheme) => "apiSecret" in scheme))
      .map(({ method, path, operation }) => {
        if ("101" in operation.responses) return { method, path, headers: handshake };
        const query = path.startsWith("/v1") ? `?${legacy}` : `?${spoken}`;
        const filled = path.replace("{lang}", "en-GB").replace("{name}", "UK%20English%20Female");
        const body = path.endsWith("/report") ? report : { voice: "UK English Female", text: "x" };
        return method === "POST"
          ? { method, path: filled, headers: json, body: JSON.stringify(body) }
          : { method, path: filled + query };
      });

  const as = ({ headers, ...sent }: Sent, credentials: Record<string, string>): Sent => ({
    ...sent,
    headers: { ...headers, ...credentials },
  });

  describe("matches the responses with audio:", () => {
    for (const [path, query] of [
      ["/v2/text/synthesize", spoken],
      ["/v1/text:synthesize", legacy],
    ] as const) {
      it(`GET and HEAD ${path}`, async () => {
        const whole = await get(200, `${path}?${query}`);
        const headers = authorize(website);
        await get(200, `${path}?${query}`); // and by the fast path
        await get(204, `${path}?${query}&volume=0`);
        await get(206, `${path}?${query}`, { ...headers, Range: "bytes=0-9" });
        await get(304, `${path}?${query}`, { ...headers, "If-None-Match": whole.headers.etag ?? "" });
        await get(400, `${path}?${query}&pitch=fast`);
        await get(400, `${path}?${query}&pitch=3`);
        await get(404, `${path}?text=x&lang=xx-XX`);
        await get(416, `${path}?${query}`, { ...headers, Range: "bytes=9999999-" });
        await expectStatus(200, { method: "HEAD", path: `${path}?lang=en-GB&text=Never+spoken`, headers });
        const any = { ...headers, "If-None-Match": "*" };
        await expectStatus(304, { method: "HEAD", path: `${path}?${query}`, headers: any });
        for (const [status, more] of [
          [200, ""],
          [204, "&volume=0"],
          [400, "&rate=3"],
          [404, "&engine=gwn"],
        ] as const) {
          await expectStatus(status, { method: "HEAD", path: `${path}?${legacy}${more}`, headers });
        }
      });

      it(`${path} with a URL that is too long`, async () => {
        await get(431, `${path}?text=${"x".repeat(80_000)}`);
      });
    }

    it("POST /v2/text/synthesize", async () => {
      const headers = { ...authorize(website), ...json };
      const post = (status: number, body: unknown) =>
        send(status, "POST", "/v2/text/synthesize", body, headers);
      await post(200, { lang: "cy-GB", text: "Bore da" });
      await post(204, { voice: "UK English Female", text: "x", volume: 0 });
      await post(400, "{");
      await post(400, { text: "x", rate: "1" });
      await post(404, { voice: "Nobody", text: "x" });
      await post(413, oversized);
    });

    it("POST /v2/text/synthesize with BYOK engines, whole and as a stream", async () => {
      for (const [engine, credentials] of Object.entries(goodCredentials)) {
        await send(200, "PUT", `/admin/websites/${website.id}/credentials/${engine}`, credentials);
      }
      const headers = { ...authorize(website), ...json };
      const streamed = { ...headers, Accept: "text/event-stream" };
      const speech = { voice: "alloy", text: "Held to its word" };
      const post = (status: number, body: object, as: Record<string, string>) =>
        send(status, "POST", "/v2/text/synthesize", body, as);
      await post(200, { ...speech, stream: true }, streamed);
      await post(200, { ...speech, format: "ogg" }, streamed);
      await post(200, speech, headers);
      await post(204, { ...speech, volume: 0 }, streamed);
      await get(200, "/v2/text/synthesize?voice=en-US-JennyNeural&format=wav&text=Held+to+its+word");
      await get(200, "/v2/voices/en-US-Neural2-C");
      providers.oai.faults.next({ kind: "refusal", status: 400, message: "It will not." });
      await post(502, { ...speech, text: "Refused" }, streamed);
      for (const engine of Object.keys(goodCredentials)) {
        await send(204, "DELETE", `/admin/websites/${website.id}/credentials/${engine}`, undefined, operator);
      }
      await post(404, speech, streamed);
    });

    it("GET /v2/text/stream, before and after the handshake", async () => {
      const sent = { method: "GET", path: "/v2/text/stream" };
      await get(426, sent.path, {});
      await get(400, sent.path, { ...handshake, ...authorize(website), "Sec-WebSocket-Protocol": "a,,b" });
      const client = await openWebSocketClient(service.url.replace("http", "ws") + sent.path, {
        headers: authorize(website),
      });
      client.send({ type: "synthesize", voice: "UK English Female", text: "x" });
      client.send({ type: "synthesize", text: 1 });
      client.send({ type: "ping" });
      const headers = { ...client.headers, "content-type": "application/json" };
      for (const type of ["error", "error", "pong"] as const) {
        const body = Buffer.from(JSON.stringify(await client.expect(type)));
        expect(contract.deviations(sent, { status: 101, headers, body })).to.deep.equal([]);
      }
      await client.close();
    });

    it("GET and HEAD /audio/{object}", async () => {
      const { headers } = await get(200, `/v2/text/synthesize?${spoken}`);
      const path = headers["content-location"] ?? "";
      const etag = headers.etag ?? "";
      await get(200, path, {});
      await get(206, path, { Range: "bytes=-5" });
      await get(304, path, { "If-None-Match": etag });
      await get(416, path, { Range: "bytes=9999999-" });
      await get(404, `/audio/${"0".repeat(64)}.mp3`, {});
      await expectStatus(200, { method: "HEAD", path });
      await expectStatus(304, { method: "HEAD", path, headers: { "If-None-Match": "*" } });
      await expectStatus(404, { method: "HEAD", path: "/audio/nothing.mp3" });
    });
  });

  describe("matches the responses about voices, configuration and tokens:", () => {
    it("GET with an entity tag, and conditional requests", async () => {
      for (const path of [
        "/v2/voices",
        "/v2/voices?browser=Chrome&browserVersion=130&os=Windows&osVersion=11",
        "/v2/voices/by-language/en-GB",
        "/v2/voices/by-language/nowhere",
        "/v2/voices/UK%20English%20Female",
      ]) {
        const { headers } = await get(200, path);
        await get(304, path, { ...authorize(website), "If-None-Match": headers.etag ?? "" });
      }
      await get(200, "/v2/config");
      await get(404, "/v2/voices/Nobody");
      await get(400, "/v2/voices?os=a&os=b");
      for (const path of ["/v2/voices/by-language/en-GB", "/v2/voices/UK%20English%20Female"]) {
        await get(400, path, { ...authorize(website), Host: "no/host" });
      }
    });

    it("POST /v2/voices/report", async () => {
      const headers = { ...authorize(website), ...json };
      await send(200, "POST", "/v2/voices/report", report, headers);
      await send(400, "POST", "/v2/voices/report", { ...report, voices: "all" }, headers);
      await send(413, "POST", "/v2/voices/report", oversized, headers);
    });

    it("POST /v2/auth/refresh", async () => {
      await send(200, "POST", "/v2/auth/refresh", undefined, authorize(website));
    });

    it("POST /v2/auth/verify-origin", async () => {
      const { id } = await registerWebsite(service.url);
      const path = `/admin/websites/${id}`;
      const verify = async (status: number, origin: string, proven = origin) => {
        const { token } = asJson(await send(201, "POST", `${path}/verifications`, { origin }));
        const headers = { Authorization: `Bearer ${token}`, Origin: proven };
        await send(status, "POST", "/v2/auth/verify-origin", undefined, headers);
      };
      await verify(200, "https://a.example");
      await verify(200, "https://b.example", "https://c.example");
      await send(401, "POST", "/v2/auth/verify-origin", undefined, { Origin: "https://a.example" });
    });
  });

  describe("matches the public pages:", () => {
    it("/, /health and its parts, /openapi.json, /client.js, /docs", async () => {
      await get(200, "/", {});
      await get(200, "/", { Accept: "text/html" });
      await get(200, "/health", {});
      await get(200, "/health/live", {});
      await get(200, "/health/ready", {});
      for (const path of ["/openapi.json", "/client.js"]) {
        const { headers } = await get(200, path, {});
        await get(304, path, { "If-None-Match": headers.etag ?? "" });
      }
      const page = await get(200, "/docs", {});
      const files = page.body.toString().match(/docs\/assets\/[^"]+/g) ?? [];
      expect(files).to.have.length(4);
      for (const file of files) await get(200, `/${file}`, {});
      await get(404, "/docs/assets/0/swagger-ui.css", {});
    });
  });

  describe("matches the admin API:", () => {
    it("websites", async () => {
      const path = `/admin/websites/${website.id}`;
      const site = { name: "another", origins: ["https://e.example"], plan: "commercial" };
      await send(201, "POST", "/admin/websites", site);
      await send(201, "POST", `${path}/verifications`, { origin: "https://e.example" });
      await send(200, "PUT", `${path}/config`, {
        voice: { rate: 1.2 },
        features: { webPlayer: { enabled: true } },
      });
      await send(200, "PUT", `${path}/origins`, { origins: ["https://e.example"] });
      await send(201, "POST", `${path}/keys`, undefined, operator);
      for (const listed of ["/admin/websites", path, `${path}/credentials`]) await get(200, listed, operator);
      let status = 201;
      while (status === 201) {
        const origin = { origin: "https://f.example" };
        ({ status } = await ask({
          method: "POST",
          path: `${path}/verifications`,
          headers: { ...operator, ...json },
          body: JSON.stringify(origin),
        }));
      }
      expect(status).to.equal(409);
    });

    it("keys", async () => {
      const { apiKey, secretId } = asJson(await send(201, "POST", `/admin/websites/${website.id}/keys`, {}));
      const path = `/admin/keys/${apiKey}`;
      for (let secrets = 1; secrets < 10; secrets++)
        await send(201, "POST", `${path}/secrets`, undefined, operator);
      await send(409, "POST", `${path}/secrets`, undefined, operator);
      await send(204, "DELETE", `${path}/secrets/${secretId}`, undefined, operator);
      await send(200, "PUT", `${path}/plan`, { tier: "commercial" });
      await send(200, "POST", `${path}/suspend`, { reason: "invoice overdue" });
      await get(200, path, operator);
      await get(200, "/admin/keys", operator);
      await send(200, "POST", `${path}/reinstate`, {});
    });

    it("the catalog", async () => {
      const narrator = { name: "Narrator", lang: "en-GB", service: "g1", voiceName: "espeak:gmw/en+f3" };
      const { id } = asJson(await send(201, "POST", "/admin/system-voices", narrator));
      await send(409, "POST", "/admin/system-voices", narrator);
      const voice = { name: "A Narrator", flag: "gb", gender: "f", lang: "en-GB", voiceIDs: [id] };
      await send(201, "POST", "/admin/voices", voice);
      await send(409, "POST", "/admin/voices", voice);
      for (const path of ["/admin/voices", "/admin/voices/A%20Narrator", "/admin/system-voices?limit=1"]) {
        await get(200, path, operator);
      }
      for (const path of ["/admin/voices", "/admin/system-voices", "/admin/keys", "/admin/websites"]) {
        await get(400, `${path}?limit=0`, operator);
      }
      await send(200, "PATCH", "/admin/voices/A%20Narrator", { gender: "m" });
      await send(200, "DELETE", "/admin/voices/A%20Narrator", undefined, operator);
      await send(200, "DELETE", `/admin/system-voices/${id}`, undefined, operator);
      await send(404, "DELETE", "/admin/system-voices/999999", undefined, operator);
    });

    it("usage and audit", async () => {
      const { apiKey } = website;
      await get(200, `/admin/keys/${apiKey}/usage`, operator);
      await get(200, `/admin/keys/${apiKey}/usage?month=2026-01&asOf=2026-01-31`, operator);
      await get(400, `/admin/keys/${apiKey}/usage?month=never`, operator);
      await get(200, "/admin/audit", operator);
      await get(200, `/admin/audit?apiKey=${apiKey}&format=csv`, operator);
      await get(400, "/admin/audit?after=-1", operator);
      await get(404, "/admin/audit?apiKey=vlk_none", operator);
    });

    it("invalid and too large bodies, unknown resources", async () => {
      for (const { method, path, operation } of operationsOf(document)) {
        if (!path.startsWith("/admin/")) continue;
        const nowhere = path.replaceAll(/\{\w+\}/g, "none");
        const [body] = Object.values(operation.requestBody?.content ?? {});
        const headers = { ...operator, ...(body && json) };
        const tooLong = path.replaceAll(/\{\w+\}/g, "x".repeat(201));
        if (path !== tooLong) await send(400, method, tooLong, body?.example, headers);
        if (path !== nowhere && !path.endsWith("/system-voices/{id}")) {
          await send(404, method, nowhere, body?.example, headers);
        }
        if (!body) continue;
        await send(400, method, nowhere, "[", headers);
        if (path === nowhere) await send(400, method, path, { unheardOf: true }, headers);
        await send(413, method, nowhere, oversized, headers);
      }
    });
  });

  describe("matches the refusals of callers", () => {
    /** A request without credentials for every operation that requires them. */
    const unauthenticated = (): Sent[] => [
      ...requestsOfWebsites(),
      ...operationsOf(document)
        .filter(({ path }) => path.startsWith("/admin/"))
        .map(({ method, path }) => ({ method, path: path.replaceAll(/\{\w+\}/g, "x") })),
    ];

    it("without credentials", async () => {
      for (const sent of unauthenticated()) await expectStatus(401, sent);
    });

    it("with a suspended key, which can only read its configuration", async () => {
      const suspended = await registerWebsite(service.url);
      await admin(service.url, "POST", `/keys/${suspended.apiKey}/suspend`, { reason: "invoice overdue" });
      for (const sent of requestsOfWebsites()) {
        await expectStatus(sent.path.startsWith("/v2/config") ? 200 : 403, as(sent, authorize(suspended)));
      }
    });

    /** Repeats more than twice, because a new minute may begin at any time. */
    const repeatUntilTooMany = async (sent: Sent): Promise<void> => {
      let status = 0;
      while (status !== 429) ({ status } = await ask(sent));
    };

    it("with a key over its rate limit", async () => {
      const busy = await registerWebsite(service.url, { requestsPerMinute: 1 });
      for (const sent of requestsOfWebsites()) await repeatUntilTooMany(as(sent, authorize(busy)));
    });

    it("from an address with too many failed attempts", async () => {
      const verification = { method: "POST", path: "/v2/auth/verify-origin" };
      const guess = { Authorization: "Bearer guessed", "X-Forwarded-For": "198.51.100.1" };
      for (const sent of [...unauthenticated(), verification]) await repeatUntilTooMany(as(sent, guess));
    });
  });

  describe("as a whole", () => {
    it("lists every path and method: other paths are 404, other methods 405", async () => {
      for (const path of ["/v2", "/v2/nowhere", "/v1/voices", "/admin", "/docs/assets", "/%"])
        await get(404, path);
      for (const path of ["/v2/voices", "/v2/config", "/v1/text:synthesize", "/health", "/docs"]) {
        const { headers } = await expectStatus(405, { method: "DELETE", path });
        expect(headers.allow, path).to.include("GET");
      }
    });

    it("matches responses that are sent before routing", async () => {
      await get(200, "/health", { Expect: "miracles" });
      await expectStatus(200, { method: "GET", path: "/admin/keys", headers: operator, body: "not JSON" });
      for (const bytes of ["GET /health HTTP/1.1\r\n\r\n", "no request at all\r\n\r\n"]) {
        const [head = "", body = ""] = (await sendBytes(service.url, bytes)).split("\r\n\r\n");
        expect(head)
          .to.match(/^HTTP\/1.1 400 /)
          .and.to.match(/^X-Request-Id: [0-9a-f-]{36}\r$/m);
        expect(JSON.parse(body).error).to.include({ statusCode: 400, code: "VALIDATION_ERROR" });
      }
    });

    it("has examples with messages that the service sends", () => {
      const answers = [
        ...operationsOf(document).flatMap(({ operation }) => Object.values(operation.responses)),
        ...Object.values(document.components.responses ?? {}),
      ];
      const shown = answers
        .flatMap((answer) => ("content" in answer ? Object.values(answer.content ?? {}) : []))
        .map(({ example }) => (example as Partial<ErrorResponse> | undefined)?.error)
        .flatMap((error) => (error && error.statusCode < 500 ? [error.message] : []));
      expect([...new Set(shown)].filter((message) => !refusals.has(message))).to.deep.equal([]);
    });

    it("documents no response that this test has not seen, except those that it cannot provoke", () => {
      const unseen = contract.unseen().filter((place) => !unseeable.some((pattern) => pattern.test(place)));
      expect(unseen).to.deep.equal([]);
    });
  });
});
