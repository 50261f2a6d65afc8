import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import fc from "fast-check";
import { createHttpContract, type Described, operationsOf, undescribed } from "../contracts/http.ts";
import { anyCharacter } from "../support/any-character.ts";
import { authorize, registerWebsite } from "../support/client.ts";
import { describedApi } from "../support/described-api.ts";
import { duringSuite } from "../support/during.ts";
import { openExchange, type Received, type Sent, sendBytes } from "../support/exchange.ts";
import { hostileRequests, type Known } from "../support/hostile-requests.ts";
import { pollTimeoutMs } from "../support/processes.ts";
import { adminToken, deployment, startService, temporaryFolder } from "../support/service.ts";
import { serveProviders } from "../support/wire/providers.ts";

/**
 * Every run sends the same requests unless TEST_SEED and FUZZ_RUNS are set. With other stores a
 * part is enough: most requests are refused before a store sees them.
 */
const seed = Number(process.env.TEST_SEED ?? 20_261_121);
const numRuns = Number(process.env.FUZZ_RUNS ?? (deployment === "production" ? 20 : 60));

/** A JSON document with each internal `$ref` replaced by its target. */
const resolveRefs = (document: object): unknown => {
  const lookUp = (pointer: string): unknown =>
    pointer
      .slice("#/".length)
      .split("/")
      .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
      .reduce<unknown>((value, step) => (value as Record<string, unknown>)[step], document);

  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve);
    if (value === null || typeof value !== "object") return value;
    if ("$ref" in value && typeof value.$ref === "string") return resolve(lookUp(value.$ref));
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner)]));
  };
  return resolve(document);
};

const description = describedApi();
const contract = createHttpContract(description as unknown as Described);

describe(`fuzzed requests (seed ${seed})`, () => {
  const folder = duringSuite(temporaryFolder);
  const providers = duringSuite(serveProviders);
  const service = duringSuite(() =>
    startService(folder.path, { TRUST_PROXY: "127.0.0.1", ...providers.env }),
  );
  let connection: ReturnType<typeof openExchange>;
  let known: Known;

  before(async () => {
    connection = openExchange(service.url);
    const [asking, changed] = [await registerWebsite(service.url), await registerWebsite(service.url)];
    known = {
      website: authorize(asking),
      operator: { Authorization: `Bearer ${adminToken}` },
      // Admin requests must not change the key that authenticates other requests.
      names: {
        apiKey: changed.apiKey,
        id: changed.id,
        lang: "en-GB",
        name: "UK English Female",
        model: "tts-1",
        voice_id: "UK_English_Female",
      },
    };
  });
  after(async () => {
    connection.close();
  });

  const isNoAccident = async (sent: Sent): Promise<void> => {
    const received = await connection.exchange(sent);
    expect(received.status, summaryOf(received)).to.not.equal(500);
    expect(received.headers["x-request-id"], summaryOf(received)).to.match(/^[0-9a-f-]{36}$/);
    expect(contract.deviations(sent, received).filter(isOfDescribed)).to.deep.equal([]);
    if (received.status >= 400 && sent.method !== "HEAD") expectEnvelope(sent, received);
  };

  for (const [index, found] of operationsOf(resolveRefs(description) as Described).entries()) {
    it(`to ${found.method} ${found.path} get a documented response`, async () => {
      await fc.assert(fc.asyncProperty(hostileRequests(found, known), isNoAccident), {
        seed: seed + index,
        numRuns,
      });
    });
  }

  it("that are malformed HTTP get the error envelope or no response", async () => {
    const line = fc.oneof(
      fc.constantFrom(
        "GET /health HTTP/1.1",
        "GET / HTTP/9.9",
        "Host: a",
        "Content-Length: x",
        "Transfer-Encoding: ?",
      ),
      fc.string({ unit: anyCharacter, maxLength: 60 }),
    );
    const bytes = fc
      .array(line, { minLength: 1, maxLength: 6 })
      .map((lines) => `${lines.join("\r\n")}\r\n\r\n`);
    const hasEnvelope = async (sent: string): Promise<void> => {
      const [head = "", body = ""] = (await sendBytes(service.url, sent)).split("\r\n\r\n");
      const status = Number(head.split(" ")[1] ?? 0);
      expect(status).to.not.equal(500);
      if (status < 400) return;
      expect(head).to.match(/^X-Request-Id: [0-9a-f-]{36}\r?$/m);
      const length = Number(/^Content-Length: (\d+)/m.exec(head)?.[1]); // another response may follow
      expect(JSON.parse(body.slice(0, length)).error.statusCode).to.equal(status);
    };
    await fc.assert(fc.asyncProperty(bytes, hasEnvelope), { seed, numRuns: numRuns * 2 });
  });

  it("leave the service healthy, with no error in its log", async () => {
    // The requests may have chosen voices that are not installed for tests.
    await connection.exchange({
      method: "PUT",
      path: "/admin/voice-choice",
      headers: { ...known.operator, "Content-Type": "application/json" },
      body: JSON.stringify({ choice: "classic" }),
    });
    // Each instance reads the choice by itself.
    let health = "";
    for (const end = Date.now() + pollTimeoutMs; health !== "200 ok" && Date.now() < end; await delay(100)) {
      const { status, body } = await connection.exchange({ method: "GET", path: "/health" });
      health = `${status} ${JSON.parse(body.toString()).status}`;
    }
    expect(health).to.equal("200 ok");
    expect(service.log.filter((line) => line.includes('"failed"'))).to.deep.equal([]);
  });
});

/**
 * Other methods and other spellings of a path get responses that the document does not describe.
 */
const isOfDescribed = (deviation: string): boolean => !deviation.endsWith(undescribed);

const summaryOf = ({ status, body }: Received): string => `${status}: ${body.subarray(0, 300)}`;

const expectEnvelope = ({ path }: Sent, received: Received): void => {
  expect(received.headers["content-type"], summaryOf(received)).to.match(/^application\/json/);
  const { error, detail = error, ...rest } = JSON.parse(received.body.toString());
  expect(rest).to.deep.equal({});
  if (path.startsWith("/openai/")) expect(Object.keys(error)).to.include.members(["type", "param", "code"]);
  else if (path.startsWith("/elevenlabs/")) expect(detail.status).to.be.a("string");
  else expect(error.statusCode).to.equal(received.status);
  expect(detail.message).to.be.a("string").and.to.not.equal("");
  expect(received.body.toString(), "no stack, no path").to.not.match(/\bat [\w.]+ \(|node_modules|\/src\//);
};
