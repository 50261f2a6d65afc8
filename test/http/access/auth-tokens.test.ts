import { expect } from "chai";
import { admin, type Credentials, registerWebsite } from "../../support/client.ts";
import { duringSuite } from "../../support/during.ts";
import { ask, type ReceivedResponse, startInProcessService } from "../../support/in-process-service.ts";
import { goodCredentials, serveProviders } from "../../support/wire/providers.ts";

type Headers = Record<string, string>;

const shop = "https://shop.example";
const ttl = 900;
const header = { alg: "HS256", typ: "JWT" };

describe("access tokens over HTTP", () => {
  const service = duringSuite(() => startInProcessService({ TOKEN_TTL_SECONDS: String(ttl) }));
  let website: Credentials & { secretId: string };

  beforeEach(async () => {
    service.time.now += 60_000; // a new minute, so that the failures of other tests do not count
    website = (await registerWebsite(service.url)) as typeof website;
    await setOrigins([shop]);
  });

  const setOrigins = (origins: string[]) =>
    admin(service.url, "PUT", `/websites/${website.id}/origins`, { origins });
  const pair = () => ({ "X-API-Key": website.apiKey, "X-API-Secret": website.apiSecret });
  const fromShop = () => ({ "X-API-Key": website.apiKey, Origin: shop });
  const refresh = (headers: Headers) => ask(`${service.url}/v2/auth/refresh`, { method: "POST", headers });
  const minted = async (headers: Headers): Promise<{ token: string; exp: number }> =>
    JSON.parse((await refresh(headers)).text);
  const bearer = async (headers: Headers) => ({ Authorization: `Bearer ${(await minted(headers)).token}` });
  /** A private response. */
  const notFound = (headers: Headers) => ask(`${service.url}/v2/text/synthesize?lang=xx&text=x`, { headers });
  const speak = (headers: Headers, method = "GET") =>
    ask(`${service.url}/v2/text/synthesize?lang=en-GB&text=Hello.`, { method, headers });
  const statusOf = async (asking: Promise<ReceivedResponse>) => (await asking).status;
  const claimsOf = (token: string) =>
    JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
  const nowSeconds = () => service.time.now / 1_000;

  describe("from POST /v2/auth/refresh", () => {
    it("are issued to authenticated callers for the configured lifetime, and are not cached", async () => {
      for (const headers of [pair(), fromShop(), await bearer(pair())]) {
        const { status, headers: response, text } = await refresh(headers);
        expect(status).to.equal(200);
        expect(response["cache-control"]).to.equal("no-store");
        expect(response["content-type"]).to.include("application/json");
        expect(JSON.parse(text))
          .to.have.all.keys("token", "exp")
          .and.include({ exp: nowSeconds() + ttl });
        expect(response).to.include.keys("x-ratelimit-limit", "x-ratelimit-remaining");
      }
    });

    it("are not issued to unauthenticated callers", async () => {
      const { status, text } = await refresh({});
      expect(status).to.equal(401);
      expect(JSON.parse(text).error).to.include({ code: "UNAUTHORIZED" });
    });

    it("contain the key as the subject, and the credential that proved it", async () => {
      const now = nowSeconds();
      const times = { iat: now, nbf: now, exp: now + ttl, auth_time: now };
      const bySecret = claimsOf((await minted(pair())).token);
      expect(bySecret).to.deep.equal({ sub: website.apiKey, sid: website.secretId, ...times });
      const byOrigin = claimsOf((await minted(fromShop())).token);
      expect(byOrigin).to.deep.equal({ sub: website.apiKey, origin: shop, ...times });
    });

    it("have the same binding as the token in the request", async () => {
      const first = await bearer(fromShop());
      expect(claimsOf((await minted({ ...first, Origin: shop })).token)).to.include({ origin: shop });
    });
  });

  describe("authenticate their bearer", () => {
    it("until the second in which they expire", async () => {
      const headers = await bearer(pair());
      service.time.now += ttl * 1_000 - 1;
      expect(await statusOf(speak(headers))).to.equal(200);
      service.time.now += 1;
      expect(await statusOf(speak(headers))).to.equal(401);
    });

    it("only from the origin that they were issued to", async () => {
      const headers = await bearer(fromShop());
      expect(await statusOf(speak({ ...headers, Origin: shop }))).to.equal(200);
      expect(await statusOf(speak({ ...headers, Referer: `${shop}/page` }))).to.equal(200);
      await setOrigins([shop, "https://other.example"]);
      for (const elsewhere of [{}, { Origin: "https://other.example" }, { Origin: "null" }] as Headers[]) {
        expect(await statusOf(speak({ ...headers, ...elsewhere }))).to.equal(401);
      }
    });

    it("from any origin if they were issued for a secret", async () => {
      const headers = await bearer(pair());
      expect(await statusOf(speak(headers))).to.equal(200);
      expect(await statusOf(speak({ ...headers, Origin: "https://other.example" }))).to.equal(200);
    });

    it("together with their own key, but not with another key", async () => {
      const headers = await bearer(pair());
      expect(await statusOf(speak({ ...headers, "X-API-Key": website.apiKey }))).to.equal(200);
      expect(await statusOf(speak({ ...headers, "X-API-Key": "vlk_other" }))).to.equal(401);
    });

    it("with the scheme in any letter case", async () => {
      const { token } = await minted(pair());
      expect(await statusOf(speak({ Authorization: `bearer ${token}` }))).to.equal(200);
    });
  });

  describe("become invalid", () => {
    it("when the secret is revoked, from the next request on", async () => {
      const headers = await bearer(pair());
      expect(await statusOf(speak(headers))).to.equal(200);
      await admin(service.url, "POST", `/keys/${website.apiKey}/secrets`);
      await admin(service.url, "DELETE", `/keys/${website.apiKey}/secrets/${website.secretId}`);
      expect(await statusOf(speak(headers))).to.equal(401);
      expect(await statusOf(refresh(headers))).to.equal(401);
    });

    it("when the origin is withdrawn, from the next request on", async () => {
      const headers = { ...(await bearer(fromShop())), Origin: shop };
      expect(await statusOf(speak(headers))).to.equal(200);
      await setOrigins([]);
      expect(await statusOf(speak(headers))).to.equal(401);
    });

    it("but not when another secret or origin is withdrawn", async () => {
      const second = await admin(service.url, "POST", `/keys/${website.apiKey}/secrets`);
      await setOrigins([shop, "https://other.example"]);
      const headers = [await bearer(pair()), { ...(await bearer(fromShop())), Origin: shop }];
      await admin(service.url, "DELETE", `/keys/${website.apiKey}/secrets/${second.body.secretId}`);
      await setOrigins([shop]);
      for (const each of headers) expect(await statusOf(speak(each))).to.equal(200);
    });
  });

  describe("end with their session, a day after other credentials began it", () => {
    /** A token of a session that began almost a day ago. */
    const lastOfSession = (auth_time: number | undefined, exp = nowSeconds() + ttl): Headers => {
      const iat = nowSeconds() - 10;
      const claims = { sub: website.apiKey, sid: website.secretId, iat, nbf: iat, exp, auth_time };
      return { Authorization: `Bearer ${service.sign(header, claims)}` };
    };

    it("on refresh, in /v2/config and in renewals", async () => {
      const end = nowSeconds() + 60;
      const headers = lastOfSession(end - 86_400, nowSeconds() + 5);
      const config = await ask(`${service.url}/v2/config`, { headers });
      const tokens = [await minted(headers), JSON.parse(config.text).auth];
      for (const { token, exp } of tokens) {
        expect(exp).to.equal(end);
        expect(claimsOf(token)).to.include({ exp: end, auth_time: end - 86_400 });
      }
      const renewed = (await notFound(headers)).headers["x-svc-auth-renewed"] ?? "";
      expect(claimsOf(renewed)).to.include({ exp: end, auth_time: end - 86_400 });
      service.time.now += 60_000;
      for (const token of [...tokens.map(({ token }) => token), renewed])
        expect(await statusOf(refresh({ Authorization: `Bearer ${token}` }))).to.equal(401);
      expect(await statusOf(refresh(pair()))).to.equal(200);
    });

    it("even if they would expire later", async () => {
      expect(await statusOf(speak(lastOfSession(nowSeconds() - 86_399)))).to.equal(200);
      expect(await statusOf(speak(lastOfSession(nowSeconds() - 86_400)))).to.equal(401);
    });

    it("when they were issued by an earlier version, without `auth_time`: since they were issued", async () => {
      const { token } = await minted(lastOfSession(undefined));
      expect(claimsOf(token)).to.include({ auth_time: nowSeconds() - 10 });
    });
  });

  describe("are refused", () => {
    const claims = () => ({
      sub: website.apiKey,
      sid: website.secretId,
      iat: nowSeconds(),
      nbf: nowSeconds(),
      exp: nowSeconds() + 60,
    });
    const isRefused = async (token: string) =>
      expect(await statusOf(speak({ ...fromShop(), Authorization: `Bearer ${token}` })), token).to.equal(401);

    it("unless they are well-formed", async () => {
      expect(await statusOf(speak({ Authorization: `Bearer ${service.sign(header, claims())}` }))).to.equal(
        200,
      );
    });

    it("with another algorithm, even if the signature is valid", async () => {
      for (const alg of ["none", "None", "HS512", "RS256", "hs256"]) {
        await isRefused(service.sign({ ...header, alg }, claims()));
      }
      await isRefused(service.sign({ alg: "HS256" }, claims()));
      const [, payload] = service.sign(header, claims()).split(".");
      const none = Buffer.from(JSON.stringify({ alg: "none" })).toString("base64url");
      await isRefused(`${none}.${payload}.`);
    });

    it("with a signature that is missing, truncated, of another token or encoded differently", async () => {
      const token = service.sign(header, claims());
      const [head, payload, signature = ""] = token.split(".");
      const [, others] = service.sign(header, { ...claims(), exp: nowSeconds() + 61 }).split(".");
      for (const wrong of [
        `${head}.${payload}`,
        `${head}.${payload}.`,
        `${head}.${payload}.${signature.slice(0, -1)}`,
        `${head}.${payload}.${signature}=`,
        `${head}.${payload}.${signature}.`,
        `${head}.${payload}.${signature}.${signature}`,
        `${head}.${others}.${signature}`,
        `${token}${"A".repeat(5_000)}`,
      ]) {
        await isRefused(wrong);
      }
    });

    it("if their times are in the future, too long ago or malformed", async () => {
      const soon = nowSeconds() + 120;
      await isRefused(service.sign(header, { ...claims(), nbf: soon, exp: soon + 60 }));
      await isRefused(service.sign(header, { ...claims(), iat: soon, exp: soon + 60 }));
      await isRefused(service.sign(header, { ...claims(), exp: nowSeconds() }));
      await isRefused(service.sign(header, { ...claims(), exp: undefined }));
      await isRefused(service.sign(header, { ...claims(), exp: "tomorrow" }));
    });

    it("with claims that name no binding, two bindings, an unknown key or another key's binding", async () => {
      await isRefused(service.sign(header, { ...claims(), sid: undefined }));
      await isRefused(service.sign(header, { ...claims(), origin: shop }));
      await isRefused(service.sign(header, { ...claims(), sub: "vlk_nobody" }));
      await isRefused(service.sign(header, { ...claims(), sid: "sec_other" }));
      await isRefused(service.sign(header, []));
    });

    it("with any other scheme, from any origin", async () => {
      const token = service.sign(header, claims());
      for (const authorization of [`Basic ${token}`, token, "Bearer", "Bearer  ", `Bearer ${token} x`, ""]) {
        expect(await statusOf(speak({ ...fromShop(), Authorization: authorization }))).to.equal(401);
      }
    });
  });

  describe("are renewed", () => {
    const renewed = ({ headers }: ReceivedResponse) => headers["x-svc-auth-renewed"];
    const half = (ttl / 2) * 1_000;

    it("after half their lifetime, on every private response", async () => {
      const headers = await bearer(pair());
      service.time.now += half - 1;
      expect(renewed(await notFound(headers))).to.equal(undefined);
      service.time.now += 1;
      const response = await notFound(headers);
      expect(response.status).to.equal(404);
      expect(response.headers["x-svc-auth-renewed-exp"]).to.equal(String(Math.floor(nowSeconds()) + ttl));
      service.time.now += half;
      expect(await statusOf(speak(headers))).to.equal(401);
      expect(await statusOf(speak({ Authorization: `Bearer ${renewed(response)}` }))).to.equal(200);
    });

    it("on a stream, before its headers are sent", async () => {
      const providers = await serveProviders();
      const streaming = await startInProcessService({ TOKEN_TTL_SECONDS: String(ttl), ...providers.env });
      try {
        const { id, apiKey, apiSecret } = await registerWebsite(streaming.url);
        await admin(streaming.url, "PUT", `/websites/${id}/credentials/oai`, goodCredentials.oai);
        const headers = { "X-API-Key": apiKey, "X-API-Secret": apiSecret };
        const { text } = await ask(`${streaming.url}/v2/auth/refresh`, { method: "POST", headers });
        streaming.time.now += half;
        for (const stream of [true, false]) {
          const response = await fetch(`${streaming.url}/v2/text/synthesize`, {
            method: "POST",
            headers: {
              Authorization: `Bearer ${JSON.parse(text).token}`,
              "Content-Type": "application/json",
              Accept: "text/event-stream",
            },
            body: JSON.stringify({ text: "Hello.", voice: "alloy", stream }),
          });
          expect(response.headers.get("x-streaming")).to.equal(stream ? "sse" : "audio");
          expect(claimsOf(response.headers.get("x-svc-auth-renewed") ?? "")).to.include({ sub: apiKey });
          await response.arrayBuffer();
        }
      } finally {
        await streaming.close();
        await providers.close();
      }
    });

    it("with the same binding", async () => {
      const headers = { ...(await bearer(fromShop())), Origin: shop };
      service.time.now += half;
      const token = renewed(await notFound(headers)) ?? "";
      expect(claimsOf(token)).to.include({ sub: website.apiKey, origin: shop });
    });

    it("never on a response that shared caches may store", async () => {
      await speak(pair());
      const headers = await bearer(pair());
      service.time.now += half;
      for (const response of [
        await speak(headers),
        await speak({ ...headers, Range: "bytes=0-9" }),
        await speak(headers, "HEAD"),
      ]) {
        expect(response.headers["cache-control"]).to.include("public");
        expect(renewed(response)).to.equal(undefined);
      }
    });

    it("never for callers with other credentials", async () => {
      for (const headers of [pair(), fromShop()])
        expect(renewed(await notFound(headers))).to.equal(undefined);
      expect(renewed(await notFound({ Authorization: "Bearer wrong" }))).to.equal(undefined);
    });
  });
});
