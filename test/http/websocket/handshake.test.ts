import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { expect } from "chai";
import { WebSocket } from "ws";
import type { Proof } from "../../../src/application/access/principal.ts";
import { limits } from "../../../src/limits/limits.ts";
import { duringSuite } from "../../support/during.ts";
import { sendBytes } from "../../support/exchange.ts";
import { ask } from "../../support/in-process-service.ts";
import { openWebSocketClient, type WebSocketClient } from "../../support/websocket-client.ts";
import { handshakeHeaders, requestHandshake } from "./handshake-request.ts";
import { type Registered, startSocketServer } from "./test-server.ts";

const shop = "https://shop.example";
const request = { voice: "en-US-Neural2-C", text: "Hello." };

describe("the handshake of the streaming socket", () => {
  const served = duringSuite(() => startSocketServer({}, { socketsPerKey: 3 }));
  let website: Registered;

  beforeEach(async () => {
    // The next minute: resets the counters of failed attempts and requests.
    served.wallTime.now = (Math.floor(served.wallTime.now / 60_000) + 1) * 60_000;
    website = await served.register({}, [shop]);
  });

  const connect = (query: Record<string, string> = {}, headers: Record<string, string> = {}) => {
    const search = new URLSearchParams(query).toString();
    return openWebSocketClient(served.url + (search && `?${search}`), { headers });
  };
  const canSynthesize = async (client: WebSocketClient): Promise<void> => {
    client.send({ type: "synthesize", ...request });
    const synthesis = await served.streaming.next();
    synthesis.start();
    await client.expect("stream_start");
    synthesis.end();
    await client.expect("stream_end");
  };
  const isAccepted = async (opening: Promise<WebSocketClient>): Promise<void> => {
    const client = await opening;
    await canSynthesize(client);
    await client.close();
  };
  /** Expects an HTTP response; no socket opens. */
  const isRefused = async (
    query: Record<string, string> = {},
    headers: Record<string, string> = {},
    [status, code] = [401, "UNAUTHORIZED"] as [number, string],
  ) => {
    const search = new URLSearchParams(query).toString();
    const response = await requestHandshake(served.url + (search && `?${search}`), headers);
    expect(response.status, response.text).to.equal(status);
    expect(response.headers).to.include({ connection: "close", "cache-control": "no-store" });
    expect(response.headers["x-request-id"]).to.match(/^[0-9a-f-]{36}$/);
    const { error } = JSON.parse(response.text);
    expect(error).to.include({ statusCode: status, code });
    return { headers: response.headers, message: error.message };
  };
  const tokenOf = (proof: Proof) => {
    const { apiKey } = website;
    return served.accessTokens.issue({ apiKey, proof }).token;
  };

  describe("accepts", () => {
    it("a key with its secret, in the two headers", () => isAccepted(connect({}, website.headers)));

    it("the key alone from a verified origin, in the query", () =>
      isAccepted(connect({ key: website.apiKey }, { Origin: shop })));

    it("an access token of a secret in the query, from any origin", () =>
      isAccepted(connect({ token: tokenOf({ by: "secret", secretId: website.secretId }) })));

    it("an access token of an origin from that origin, with or without the key", async () => {
      const token = tokenOf({ by: "origin", origin: shop });
      await isAccepted(connect({ token }, { Origin: shop }));
      await isAccepted(connect({ token, key: website.apiKey }, { Origin: shop }));
    });

    it("an access token in the Authorization header", () => {
      const token = tokenOf({ by: "secret", secretId: website.secretId });
      return isAccepted(connect({}, { Authorization: `Bearer ${token}` }));
    });
  });

  describe("refuses with an HTTP response", () => {
    it("a handshake without credentials, with WWW-Authenticate", async () => {
      const { headers } = await isRefused();
      expect(headers).to.include({ "www-authenticate": "Bearer" });
    });

    it("a wrong secret, even with other valid credentials", async () => {
      const headers = { "X-API-Key": website.apiKey, "X-API-Secret": "wrong", Origin: shop };
      const token = tokenOf({ by: "secret", secretId: website.secretId });
      await isRefused({ key: website.apiKey, token }, headers);
    });

    it("the key from another origin, or without an origin", async () => {
      await isRefused({ key: website.apiKey }, { Origin: "https://evil.example" });
      await isRefused({ key: website.apiKey }, { Origin: "null" });
      await isRefused({ key: website.apiKey });
    });

    it("a wrong token, a token of another key and an expired token", async () => {
      const token = tokenOf({ by: "secret", secretId: website.secretId });
      await isRefused({ token: `${token}x` });
      await isRefused({ token, key: "vlk_another" });
      served.wallTime.now += 901_000;
      await isRefused({ token });
    });

    it("a repeated token parameter", async () => {
      const token = tokenOf({ by: "secret", secretId: website.secretId });
      expect((await requestHandshake(`${served.url}?token=${token}&token=${token}`)).status).to.equal(401);
    });

    it("a token of an origin from another origin", async () => {
      const token = tokenOf({ by: "origin", origin: shop });
      await isRefused({ token });
      await isRefused({ token }, { Origin: "https://evil.example" });
    });

    it("a suspended key, with the reason and the rate-limit headers", async () => {
      await served.core.keys.suspend(website.apiKey, "invoice overdue", { actor: "admin" });
      const { message, headers } = await isRefused({}, website.headers, [403, "KEY_SUSPENDED"]);
      expect(message).to.include("invoice overdue");
      expect(headers).to.include({ "x-ratelimit-limit": "100000", "x-ratelimit-remaining": "99999" });
    });

    it("wrong secrets with 429 after too many from one address, and never correct ones", async () => {
      const wrong = { "X-API-Key": website.apiKey, "X-API-Secret": "wrong" };
      for (let i = 0; i < limits.failures.atMost; i++) await isRefused({}, wrong);
      const { headers } = await isRefused({}, wrong, [429, "RATE_LIMIT_EXCEEDED"]);
      expect(headers).to.include({
        "retry-after": "60",
        "x-ratelimit-limit": String(limits.failures.atMost),
      });
      await isAccepted(connect({}, website.headers));
      await isAccepted(connect({ key: website.apiKey }, { Origin: shop }));
      await isAccepted(connect({ token: tokenOf({ by: "secret", secretId: website.secretId }) }));
    });

    it("any number of junk tokens with 401: any page can send them from its visitors' address", async () => {
      for (let i = 0; i <= limits.failures.atMost; i++) {
        await isRefused({ token: "junk" });
        await isRefused({ token: `${website.apiKey}.junk` });
        await isRefused({ token: "e30.e30.e30" });
      }
    });

    it("a key that has exceeded its requests per minute, with Retry-After", async () => {
      const { headers } = await served.register({ requestsPerMinute: 1 });
      await (await connect({}, headers)).close();
      const refusal = await isRefused({}, headers, [429, "RATE_LIMIT_EXCEEDED"]);
      expect(refusal.headers).to.include({ "x-ratelimit-limit": "1", "x-ratelimit-remaining": "0" });
      expect(Number(refusal.headers["retry-after"])).to.be.within(1, 60);
    });

    it("a burst, with Retry-After and the rate-limit headers", async () => {
      const { headers } = await served.register({ requestsPerMinute: 400 });
      for (let i = 0; i < 20; i++)
        await requestHandshake(served.url, { ...headers, "Sec-WebSocket-Protocol": "," });
      const refusal = await isRefused({}, headers, [429, "BURST_RATE_LIMIT_EXCEEDED"]);
      expect(refusal.headers).to.include({ "x-ratelimit-limit": "400", "x-ratelimit-remaining": "380" });
      expect(Number(refusal.headers["retry-after"])).to.be.within(1, 2);
    });

    it("a socket above the limit per key, until one has closed", async () => {
      const open = [];
      for (let i = 0; i < 3; i++) open.push(await connect({}, website.headers));
      const { headers } = await isRefused({}, website.headers, [429, "TOO_MANY_SOCKETS"]);
      expect(headers).to.include({ "retry-after": "10", "x-ratelimit-limit": "100000" });
      const other = await served.register();
      await isAccepted(connect({}, other.headers));
      await open.pop()?.close();
      await isAccepted(connect({}, website.headers));
      for (const client of open) await client.close();
    });

    it("a socket above the limit per key, not counting handshakes that opened none", async () => {
      const invalid = { ...website.headers, "Sec-WebSocket-Protocol": "," };
      for (let i = 0; i < 4; i++) await isRefused({}, invalid, [400, "VALIDATION_ERROR"]);
      await isAccepted(connect({}, website.headers));
    });
  });

  it("fires only `error` and `close` on a refused `ws` client", async () => {
    const webSocket = new WebSocket(served.url);
    let opened = false;
    webSocket.on("open", () => {
      opened = true;
    });
    const closed = new Promise((resolve) => webSocket.once("close", resolve));
    const [error] = await once(webSocket, "error");
    await closed;
    expect(error.message).to.include("401");
    expect(opened).to.equal(false);
  });

  it("fires only `close` on a refused browser WebSocket", async () => {
    const webSocket = new globalThis.WebSocket(served.url);
    const seen: string[] = [];
    webSocket.onopen = () => seen.push("open");
    const [closed] = await once(webSocket, "close");
    expect(seen).to.deep.equal([]);
    expect(closed.code).to.equal(1006);
  });

  it("responds with a request id and the rate-limit headers", async () => {
    const client = await connect({}, website.headers);
    expect(client.headers).to.include({ "x-ratelimit-limit": "100000", "x-ratelimit-remaining": "99999" });
    expect(client.headers["x-request-id"]).to.match(/^[0-9a-f-]{36}$/);
    await client.close();
  });

  describe("is rate limited:", () => {
    it("the handshake and each synthesis count as one request", async () => {
      const narrow = await served.register({ requestsPerMinute: 3 });
      const client = await connect({}, narrow.headers);
      await canSynthesize(client);
      await canSynthesize(client);
      const id = randomUUID();
      client.send({ type: "synthesize", id, request });
      const error = await client.expect("error");
      expect(error).to.include({ id, code: "RATE_LIMIT_EXCEEDED", retryable: true });
      expect(error.retryAfterSeconds).to.be.within(1, 60);
      await isRefused({}, narrow.headers, [429, "RATE_LIMIT_EXCEEDED"]);
      served.wallTime.now += 60_000;
      await canSynthesize(client);
      await client.close();
    });

    it("many syntheses at once are refused as a burst", async () => {
      const narrow = await served.register({ requestsPerMinute: 400 });
      const client = await connect({}, narrow.headers);
      for (let i = 0; i < 40; i++) client.send({ type: "synthesize", request: {}, id: randomUUID() });
      const codes = new Set<string | undefined>();
      for (let i = 0; i < 40; i++) codes.add((await client.expect("error")).code);
      expect([...codes]).to.deep.equal(["VALIDATION_ERROR", "BURST_RATE_LIMIT_EXCEEDED"]);
      await client.close();
    });
  });

  describe("is checked again for each synthesis:", () => {
    /**
     * The synthesis in progress ends normally; the next one is refused, and the socket is closed.
     */
    const endsWith = async (
      client: WebSocketClient,
      [code, reason]: [string, string],
      withdraw: () => Promise<unknown>,
    ) => {
      const running = randomUUID();
      client.send({ type: "synthesize", id: running, request });
      const synthesis = await served.streaming.next();
      synthesis.start();
      await client.expect("stream_start");
      await withdraw();
      const id = randomUUID();
      client.send({ type: "synthesize", id, request });
      expect(await client.expect("error")).to.include({ id, code, retryable: false });
      await synthesis.push(Buffer.from("the last chunk"));
      expect(await client.expect("frame")).to.include({ id: running });
      synthesis.end();
      await client.expect("stream_end");
      expect(await client.closed).to.deep.equal({ code: 1008, reason });
    };

    it("refuses it after the secret was revoked", async () => {
      const client = await connect({}, website.headers);
      await endsWith(client, ["UNAUTHORIZED", "The credentials were withdrawn."], () =>
        served.core.keys.revokeSecret(website.apiKey, website.secretId, { actor: "admin" }),
      );
    });

    it("refuses it after the origin was removed", async () => {
      const client = await connect({ key: website.apiKey }, { Origin: shop });
      await endsWith(client, ["UNAUTHORIZED", "The credentials were withdrawn."], () =>
        served.core.websites.setOrigins(website.websiteId, [], { actor: "admin" }),
      );
    });

    it("refuses it after the key was suspended", async () => {
      const client = await connect({}, website.headers);
      await endsWith(
        client,
        ["KEY_SUSPENDED", "The key is suspended: abuse. Only the operator can reinstate it."],
        () => served.core.keys.suspend(website.apiKey, "abuse", { actor: "admin" }),
      );
    });

    it("refuses it after the token's session has ended", async () => {
      const client = await connect({ token: tokenOf({ by: "secret", secretId: website.secretId }) });
      await endsWith(client, ["UNAUTHORIZED", "The session of the access token has ended."], async () => {
        served.wallTime.now += 86_400_000;
      });
    });

    it("accepts it after the token has expired", async () => {
      const client = await connect({ token: tokenOf({ by: "secret", secretId: website.secretId }) });
      served.wallTime.now += 901_000;
      await canSynthesize(client);
      await client.close();
    });
  });

  describe("responds to other requests in HTTP:", () => {
    const { "Sec-WebSocket-Key": _key, ...upgrade } = handshakeHeaders;
    const address = () => served.url.replace("ws", "http");

    for (const [request, headers] of [
      ["a plain GET", {}],
      ["an upgrade to something else", { Connection: "Upgrade", Upgrade: "h2c" }],
      ["a handshake without a key", upgrade],
      ["a handshake of another version", { ...handshakeHeaders, "Sec-WebSocket-Version": "8" }],
    ] as const) {
      it(`${request} gets 426`, async () => {
        const response = await ask(address(), { headers });
        expect(response.status).to.equal(426);
        expect(response.headers).to.include({
          upgrade: "websocket",
          connection: "Upgrade",
          "sec-websocket-version": "13",
        });
        expect(JSON.parse(response.text).error).to.include({ statusCode: 426, code: "UPGRADE_REQUIRED" });
      });
    }

    it("another method gets 405", async () => {
      expect((await ask(address(), { method: "POST", headers: handshakeHeaders })).status).to.equal(405);
    });

    it("a handshake for another path gets 404", async () => {
      for (const path of ["/v2/text/streams", "/v2/text", "/"]) {
        const response = await ask(served.httpUrl + path, { headers: handshakeHeaders });
        expect(response.status, path).to.equal(404);
        expect(JSON.parse(response.text).error).to.include({ code: "NOT_FOUND" });
      }
    });

    it("an invalid list of subprotocols gets 400", async () => {
      const lines = Object.entries({
        ...handshakeHeaders,
        ...website.headers,
        "Sec-WebSocket-Protocol": "a,,b",
      });
      const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
      const bytes = `GET /v2/text/stream HTTP/1.1\r\nHost: x\r\n${head}\r\n`;
      const response = await sendBytes(served.httpUrl, bytes);
      expect(response)
        .to.match(/^HTTP\/1.1 400 /)
        .and.to.include('"code":"VALIDATION_ERROR"');
    });
  });

  it("logs no credentials", async () => {
    const token = tokenOf({ by: "secret", secretId: website.secretId });
    await isAccepted(connect({ token }));
    await isRefused({ token: "guessed-token" });
    expect(served.log.join("")).to.not.include(token).and.not.include("guessed-token");
  });
});
