import { expect } from "chai";
import type { NativeSpeech } from "../../../src/client/dom.ts";
import { type SpeechEvent, Voxledger } from "../../../src/client/voxledger.ts";
import { admin, registerWebsite } from "../../support/client.ts";
import {
  configResponse,
  errorResponse,
  type StubResponse,
  type StubServer,
  startStubServer,
} from "../../support/client-library/stub-server.ts";
import { duringSuite } from "../../support/during.ts";
import { rejection } from "../../support/rejection.ts";
import { startService, temporaryFolder } from "../../support/service.ts";

const origin = "https://page.example";

/** A browser with one voice. */
const nativeSpeech: NativeSpeech = {
  synthesis: {
    getVoices: () => [
      { name: "Daniel", lang: "en-GB", voiceURI: "Daniel", localService: true, default: false },
    ],
    ...{ speak: () => {}, cancel: () => {}, pause: () => {}, resume: () => {}, addEventListener: () => {} },
  },
  utterance: () => {
    throw new Error("not used by these tests");
  },
};

/** A sent request and the names of its credentials. */
interface SentRequest {
  readonly path: string;
  readonly by: string;
  readonly cache: RequestInit["cache"];
}

describe("authentication of the client library", () => {
  const folder = duringSuite(temporaryFolder);
  const service = duringSuite(() => startService(folder.path));
  const website = duringSuite(() => registerWebsite(service.url));
  let now: number;
  let sent: SentRequest[];
  const clients: Voxledger[] = [];

  before(async () => {
    await admin(service.url, "PUT", `/websites/${website.id}/origins`, { origins: [origin] });
  });
  beforeEach(() => {
    now = Date.now();
    sent = [];
  });
  afterEach(() => {
    for (const client of clients.splice(0)) client.close();
  });

  /** A `fetch` that sends an Origin, as a browser does. */
  const fromPage =
    (page: string, change: (headers: Headers) => void = () => {}): typeof fetch =>
    (input, init) => {
      const headers = new Headers(init?.headers);
      change(headers);
      headers.set("Origin", page);
      const { pathname, searchParams } = new URL(String(input));
      const credentials = [...headers.keys()].filter((name) => /^(authorization|x-api-)/.test(name));
      if (searchParams.has("key")) credentials.push("key");
      sent.push({ path: pathname, by: credentials.join("+"), cache: init?.cache });
      return fetch(input, { ...init, headers });
    };
  const connect = (options: object = {}, given: { fetch: typeof fetch } = { fetch: fromPage(origin) }) => {
    const client = new Voxledger(
      { apiKey: website.apiKey, baseUrl: service.url, retryAttempts: 0, ...options },
      { ...given, now: () => now, nativeSpeech, navigator: { userAgent: "Mozilla/5.0 Firefox/140.0" } },
    );
    clients.push(client);
    return client;
  };

  /** Sends a request with a body, which carries the token. */
  const report = (client: Voxledger): Promise<unknown> => client.reportVoices();
  const summaries = (): string[] => sent.map(({ path, by }) => `${path} by ${by}`);

  it("sends the key in the URL of requests without a body, and the token with all others", async () => {
    const client = connect();
    const { voice } = await client.config();
    expect(voice.name).to.equal("UK English Female");
    await client.voicesByLanguage("en-GB");
    await report(client);
    expect(summaries()).to.deep.equal([
      "/v2/config by key",
      "/v2/voices/by-language/en-GB by key",
      "/v2/voices/report by authorization",
    ]);
  });

  it("bypasses the browser's cache for the configuration, because its token expires", async () => {
    await connect().config();
    expect(sent[0]).to.include({ path: "/v2/config", cache: "no-store" });
  });

  it("does not expose the token", async () => {
    expect(await connect().config()).to.not.have.property("auth");
  });

  it("refreshes the token before it expires, once for concurrent requests, with the key: a new session begins", async () => {
    const client = connect();
    await client.config();
    now += 880_000;
    await Promise.all([report(client), report(client)]);
    expect(summaries().slice(1)).to.deep.equal([
      "/v2/auth/refresh by key",
      "/v2/voices/report by authorization",
      "/v2/voices/report by authorization",
    ]);
  });

  it("refreshes the token after the clock was set back, because its age is unknown", async () => {
    const client = connect();
    await client.config();
    now -= 60_000;
    await report(client);
    expect(summaries()[1]).to.equal("/v2/auth/refresh by key");
  });

  for (const [clock, ms] of [
    ["a day ahead", 86_400_000],
    ["a day behind", -86_400_000],
  ] as const) {
    it(`computes the lifetime of a token correctly if the clock is ${clock}`, async () => {
      now += ms;
      const client = connect();
      await client.config();
      await report(client);
      now += 880_000;
      await report(client);
      expect(summaries()).to.deep.equal([
        "/v2/config by key",
        "/v2/voices/report by authorization",
        "/v2/auth/refresh by key",
        "/v2/voices/report by authorization",
      ]);
    });
  }

  it("refreshes a rejected token and repeats the request", async () => {
    let invalidateNext = false;
    const withInvalidToken = fromPage(origin, (headers) => {
      if (!invalidateNext || !headers.has("Authorization")) return;
      headers.set("Authorization", "Bearer invalid");
      invalidateNext = false;
    });
    const client = connect({}, { fetch: withInvalidToken });
    await client.config();
    invalidateNext = true;
    await report(client);
    expect(sent.map(({ path }) => path)).to.deep.equal([
      "/v2/config",
      "/v2/voices/report",
      "/v2/auth/refresh",
      "/v2/voices/report",
    ]);
  });

  it("refreshes the token of a request at most once", async () => {
    const withInvalidToken = fromPage(origin, (headers) => {
      if (headers.has("Authorization")) headers.set("Authorization", "Bearer invalid");
    });
    const client = connect({}, { fetch: withInvalidToken });
    await client.config();
    expect(await rejection(report(client))).to.include({ status: 401, code: "UNAUTHORIZED" });
    expect(sent).to.have.length(4);
  });

  describe("with a stub service", () => {
    let server: StubServer;
    let tokens: (string | undefined)[];
    let responses: StubResponse[];
    let issued: number;
    let lifetimes: number[];
    let onRequest: () => void;

    /** A token with the service's claims and no valid signature. */
    const token = () => {
      const iat = Math.floor(now / 1_000);
      const exp = iat + (lifetimes.shift() ?? 900);
      issued += 1;
      return { token: `h.${Buffer.from(JSON.stringify({ iat, exp, issued })).toString("base64url")}.s`, exp };
    };
    const numberOf = (bearer: string | undefined): number | undefined =>
      bearer && JSON.parse(Buffer.from(bearer.split(".")[1] ?? "", "base64url").toString()).issued;

    beforeEach(async () => {
      tokens = [];
      responses = [];
      issued = 0;
      lifetimes = [];
      onRequest = () => {};
      server = await startStubServer(({ headers, url = "" }) => {
        if (url.startsWith("/v2/config"))
          return { body: { ...(configResponse.body as object), auth: token() } };
        if (url.startsWith("/v2/auth/refresh")) return { body: token() };
        tokens.push(headers.authorization);
        onRequest();
        return responses.shift() ?? {};
      });
    });
    afterEach(() => server.close());

    const connectToStub = (options: object = {}) => connect({ baseUrl: server.url, ...options });

    it("stores the renewed token of a response, for any header prefix", async () => {
      const renewed = { ...token() };
      const headers = {
        "X-Acme-Tts-Auth-Renewed": renewed.token,
        "X-Acme-Tts-Auth-Renewed-Exp": String(renewed.exp),
      };
      responses = [{ headers }, {}];
      const client = connectToStub();
      await client.config();
      await report(client);
      await report(client);
      expect(tokens.map(numberOf)).to.deep.equal([2, 1]);
    });

    it("uses the token that it received last, even if it expires sooner", async () => {
      lifetimes = [900, 60];
      responses = [errorResponse(401, "UNAUTHORIZED"), {}, {}];
      const client = connectToStub();
      await client.config();
      await report(client);
      await report(client);
      expect(tokens.map(numberOf)).to.deep.equal([1, 2, 2]);
    });

    it("throws a 429", async () => {
      responses = [errorResponse(429, "RATE_LIMIT_EXCEEDED", { "Retry-After": "60" })];
      const client = connectToStub();
      await client.config();
      expect(await rejection(report(client))).to.include({ status: 429, retryAfterSeconds: 60 });
      expect(issued).to.equal(1);
    });
  });

  it("authenticates with the secret if it has one, and never with a token", async () => {
    const client = connect(
      { apiSecret: website.apiSecret },
      { fetch: fromPage("https://elsewhere.example") },
    );
    await client.config();
    await report(client);
    expect(sent.map(({ by }) => by)).to.deep.equal(["x-api-key+x-api-secret", "x-api-key+x-api-secret"]);
  });

  it("reports one error on a page whose origin is not verified", async () => {
    const client = connect({}, { fetch: fromPage("https://elsewhere.example") });
    const errors: SpeechEvent<"OnError">[] = [];
    client.on("OnError", (event) => errors.push(event));
    const refusal = await rejection(client.speak("Hello"));
    expect(refusal).to.include({ status: 401, code: "UNAUTHORIZED" });
    expect(errors).to.deep.equal([
      { type: "OnError", timestamp: now, message: (refusal as Error).message, code: "UNAUTHORIZED" },
    ]);
  });
});
