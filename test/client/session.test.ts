import { expect } from "chai";
import { createSession } from "../../src/client/session.ts";
import { type SpeechEvent, Voxledger } from "../../src/client/voxledger.ts";
import { rejection } from "../rejection.ts";
import { admin, type Credentials, registerWebsite } from "../support/client.ts";
import { type RunningService, startService, temporaryFolder } from "../support/service.ts";
import { answering, config } from "./answering.ts";

const origin = "https://page.example";

/** What a request proved itself by. */
interface Asked {
  readonly path: string;
  readonly by: string;
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
      const by = [...headers.keys()].filter((name) => /^(authorization|x-api-)/.test(name)).join("+");
      asked.push({ path: new URL(String(input)).pathname, by });
      return fetch(input, { ...init, headers });
    };
  const connect = (options: object = {}, given: { fetch: typeof fetch } = { fetch: fromPage(origin) }) => {
    const client = new Voxledger(
      { apiKey: website.apiKey, baseUrl: service.url, retryAttempts: 0, ...options },
      { ...given, now: () => now },
    );
    clients.push(client);
    return client;
  };

  it("shows the key and the origin once, and the token that it was given from then on", async () => {
    const client = connect();
    const { voice } = await client.config();
    expect(voice.name).to.equal("UK English Female");
    await client.voicesByLanguage("en-GB");
    await client.voice("UK English Female");
    expect(asked).to.deep.equal([
      { path: "/v2/config", by: "x-api-key" },
      { path: "/v2/voices/by-language/en-GB", by: "authorization" },
      { path: "/v2/voices/UK%20English%20Female", by: "authorization" },
    ]);
  });

  it("does not go back to an older token that a cached answer tells again", async () => {
    const session = createSession({
      apiKey: "k",
      apiSecret: undefined,
      exchange: () => Promise.reject(new Error("nothing is to be asked")),
      now: () => now,
    });
    const inSeconds = (seconds: number) => Math.floor(now / 1_000) + seconds;
    session.adopt({ token: "newer", exp: inSeconds(900) });
    session.adopt({ token: "older", exp: inSeconds(600) });
    expect(await session.headers()).to.deep.equal({ Authorization: "Bearer newer" });
  });

  it("keeps the token to itself", async () => {
    expect(await connect().config()).to.not.have.property("auth");
  });

  it("refreshes the token before it expires, once for all that ask at that moment", async () => {
    const client = connect();
    await client.config();
    now += 880_000;
    await Promise.all([client.voice("UK English Female"), client.voice("UK English Male")]);
    expect(asked.slice(1)).to.deep.equal([
      { path: "/v2/auth/refresh", by: "x-api-key" },
      { path: "/v2/voices/UK%20English%20Female", by: "authorization" },
      { path: "/v2/voices/UK%20English%20Male", by: "authorization" },
    ]);
  });

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
    expect((await client.voice("UK English Female")).voice.name).to.equal("UK English Female");
    expect(asked.map(({ path }) => path)).to.deep.equal([
      "/v2/config",
      "/v2/voices/UK%20English%20Female",
      "/v2/auth/refresh",
      "/v2/voices/UK%20English%20Female",
    ]);
  });

  it("asks only once again: what is refused twice is refused", async () => {
    const spoiling = fromPage(origin, (headers) => {
      if (headers.has("Authorization")) headers.set("Authorization", "Bearer of-nothing");
    });
    const client = connect({}, { fetch: spoiling });
    await client.config();
    expect(await rejection(client.voice("UK English Female"))).to.include({
      status: 401,
      code: "UNAUTHORIZED",
    });
    expect(asked).to.have.length(4);
  });

  it("does without refreshing where the token was dated by a clock far behind its own", async () => {
    now += 86_400_000;
    const client = connect();
    await client.config();
    await client.voice("UK English Female");
    expect(asked.map(({ by }) => by)).to.deep.equal(["x-api-key", "authorization"]);
  });

  it("takes the renewed token from any answer, whatever prefix its headers have", async () => {
    const tokens: (string | undefined)[] = [];
    const exp = String(Math.floor(now / 1_000) + 900);
    const server = await answering(({ headers, url }) => {
      tokens.push(headers.authorization);
      if (url === "/v2/config")
        return { body: { ...(config.body as object), auth: { token: "first", exp: Number(exp) } } };
      return { headers: { "X-Acme-Tts-Auth-Renewed": "second", "X-Acme-Tts-Auth-Renewed-Exp": exp } };
    });
    const client = connect({ baseUrl: server.url });
    await client.config();
    await client.voice("A");
    await client.voice("B");
    await server.close();
    expect(tokens).to.deep.equal([undefined, "Bearer first", "Bearer second"]);
  });

  it("shows the secret where there is one, and no token", async () => {
    const client = connect(
      { apiSecret: website.apiSecret },
      { fetch: fromPage("https://elsewhere.example") },
    );
    await client.config();
    await client.voice("UK English Female");
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
