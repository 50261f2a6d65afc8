import { expect } from "chai";
import type { NativeSpeech } from "../../../src/client/playback/native-speech-backend.ts";
import { type SpeechEvent, Voxledger } from "../../../src/client/voxledger.ts";
import { admin, type Credentials, registerWebsite } from "../../support/client.ts";
import {
  configResponse,
  errorResponse,
  type StubResponse,
  type StubServer,
  startStubServer,
} from "../../support/client-library/stub-server.ts";
import { rejection } from "../../support/rejection.ts";
import { type RunningService, startService, temporaryFolder } from "../../support/service.ts";

const origin = "https://page.example";

/** A browser with a voice to report. */
const nativeSpeech: NativeSpeech = {
  synthesis: {
    getVoices: () => [
      { name: "Daniel", lang: "en-GB", voiceURI: "Daniel", localService: true, default: false },
    ],
    ...{ speak: () => {}, cancel: () => {}, pause: () => {}, resume: () => {}, addEventListener: () => {} },
  },
  utterance: () => {
    throw new Error("nothing is to be spoken");
  },
};

/** What a request proved itself by. */
interface Asked {
  readonly path: string;
  readonly by: string;
  readonly cache: RequestInit["cache"];
}

describe("the client library's session", () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let service: RunningService;
  let website: Credentials;
  let now: number;
  let asked: Asked[];
  const clients: Voxledger[] = [];

  before(async () => {
    folder = await temporaryFolder();
    service = await startService(folder.path);
    website = await registerWebsite(service.url);
    await admin(service.url, "PUT", `/websites/${website.id}/origins`, { origins: [origin] });
  });
  beforeEach(() => {
    now = Date.now();
    asked = [];
  });
  afterEach(() => {
    for (const client of clients.splice(0)) client.close();
  });
  after(async () => {
    await service.stop();
    await folder.remove();
  });

  /** A fetch that does what a browser does: it tells the page's origin. */
  const fromPage =
    (page: string, change: (headers: Headers) => void = () => {}): typeof fetch =>
    (input, init) => {
      const headers = new Headers(init?.headers);
      change(headers);
      headers.set("Origin", page);
      const { pathname, searchParams } = new URL(String(input));
      const shown = [...headers.keys()].filter((name) => /^(authorization|x-api-)/.test(name));
      if (searchParams.has("key")) shown.push("key");
      asked.push({ path: pathname, by: shown.join("+"), cache: init?.cache });
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

  /** A request with a body, which carries the token. */
  const report = (client: Voxledger): Promise<unknown> => client.reportVoices();
  const paths = (): string[] => asked.map(({ path, by }) => `${path} by ${by}`);

  it("sends requests without a body with the key in their address, and others with the token", async () => {
    const client = connect();
    const { voice } = await client.config();
    expect(voice.name).to.equal("UK English Female");
    await client.voicesByLanguage("en-GB");
    await report(client);
    expect(paths()).to.deep.equal([
      "/v2/config by key",
      "/v2/voices/by-language/en-GB by key",
      "/v2/voices/report by authorization",
    ]);
  });

  it("does not let the browser's cache answer for the configuration, whose token would be dead", async () => {
    await connect().config();
    expect(asked[0]).to.include({ path: "/v2/config", cache: "no-store" });
  });

  it("keeps the token to itself", async () => {
    expect(await connect().config()).to.not.have.property("auth");
  });

  it("refreshes the token before it expires, once for all that ask at that moment", async () => {
    const client = connect();
    await client.config();
    now += 880_000;
    await Promise.all([report(client), report(client)]);
    expect(paths().slice(1)).to.deep.equal([
      "/v2/auth/refresh by key",
      "/v2/voices/report by authorization",
      "/v2/voices/report by authorization",
    ]);
  });

  it("refreshes the token when the clock was set back, for its age is unknown then", async () => {
    const client = connect();
    await client.config();
    now -= 60_000;
    await report(client);
    expect(paths()[1]).to.equal("/v2/auth/refresh by key");
  });

  for (const [clock, ms] of [
    ["a day ahead", 86_400_000],
    ["a day behind", -86_400_000],
  ] as const) {
    it(`knows how long a token is good for where the clock is ${clock}`, async () => {
      now += ms;
      const client = connect();
      await client.config();
      await report(client);
      now += 880_000;
      await report(client);
      expect(paths()).to.deep.equal([
        "/v2/config by key",
        "/v2/voices/report by authorization",
        "/v2/auth/refresh by key",
        "/v2/voices/report by authorization",
      ]);
    });
  }

  it("gets another token, and asks again, when one is refused", async () => {
    let spoil = false;
    const spoiling = fromPage(origin, (headers) => {
      if (!spoil || !headers.has("Authorization")) return;
      headers.set("Authorization", "Bearer of-nothing");
      spoil = false;
    });
    const client = connect({}, { fetch: spoiling });
    await client.config();
    spoil = true;
    await report(client);
    expect(asked.map(({ path }) => path)).to.deep.equal([
      "/v2/config",
      "/v2/voices/report",
      "/v2/auth/refresh",
      "/v2/voices/report",
    ]);
  });

  it("replaces the token of a request once: what is refused twice is refused", async () => {
    const spoiling = fromPage(origin, (headers) => {
      if (headers.has("Authorization")) headers.set("Authorization", "Bearer of-nothing");
    });
    const client = connect({}, { fetch: spoiling });
    await client.config();
    expect(await rejection(report(client))).to.include({ status: 401, code: "UNAUTHORIZED" });
    expect(asked).to.have.length(4);
  });

  describe("with a service made up", () => {
    let server: StubServer;
    let tokens: (string | undefined)[];
    let answers: StubResponse[];
    let issued: number;
    let lifetimes: number[];
    let whenAsked: () => void;

    /** A token as the service signs it, but for the signature. */
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
      answers = [];
      issued = 0;
      lifetimes = [];
      whenAsked = () => {};
      server = await startStubServer(({ headers, url = "" }) => {
        if (url.startsWith("/v2/config"))
          return { body: { ...(configResponse.body as object), auth: token() } };
        if (url.startsWith("/v2/auth/refresh")) return { body: token() };
        tokens.push(headers.authorization);
        whenAsked();
        return answers.shift() ?? {};
      });
    });
    afterEach(() => server.close());

    const made = (options: object = {}) => connect({ baseUrl: server.url, ...options });

    it("takes the renewed token from any answer, whatever prefix its headers have", async () => {
      const renewed = { ...token() };
      const headers = {
        "X-Acme-Tts-Auth-Renewed": renewed.token,
        "X-Acme-Tts-Auth-Renewed-Exp": String(renewed.exp),
      };
      answers = [{ headers }, {}];
      const client = made();
      await client.config();
      await report(client);
      await report(client);
      expect(tokens.map(numberOf)).to.deep.equal([2, 1]);
    });

    it("uses the token that it received last, though it expires sooner", async () => {
      lifetimes = [900, 60];
      answers = [errorResponse(401, "UNAUTHORIZED"), {}, {}];
      const client = made();
      await client.config();
      await report(client);
      await report(client);
      expect(tokens.map(numberOf)).to.deep.equal([1, 2, 2]);
    });

    it("gets another token after a 429 if the token has expired meanwhile", async () => {
      const client = made();
      await client.config();
      answers = [errorResponse(429, "RATE_LIMIT_EXCEEDED", { "Retry-After": "60" }), {}];
      whenAsked = () => {
        now += 901_000;
        whenAsked = () => {};
      };
      await report(client);
      expect(tokens.map(numberOf)).to.deep.equal([1, 2]);
    });

    it("takes a 429 for what it is while the token is good", async () => {
      answers = [errorResponse(429, "RATE_LIMIT_EXCEEDED", { "Retry-After": "60" })];
      const client = made();
      await client.config();
      expect(await rejection(report(client))).to.include({ status: 429, retryAfterSeconds: 60 });
      expect(issued).to.equal(1);
    });
  });

  it("shows the secret where there is one, and no token", async () => {
    const client = connect(
      { apiSecret: website.apiSecret },
      { fetch: fromPage("https://elsewhere.example") },
    );
    await client.config();
    await report(client);
    expect(asked.map(({ by }) => by)).to.deep.equal(["x-api-key+x-api-secret", "x-api-key+x-api-secret"]);
  });

  it("is refused from an origin that is not the website's, and tells so once", async () => {
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
