import { expect } from "chai";
import { Voxledger, VoxledgerError } from "../../../src/client/voxledger.ts";
import {
  configResponse,
  errorResponse,
  type StubResponse,
  type StubServer,
  startStubServer,
} from "../../support/client-library/stub-server.ts";
import { rejection } from "../../support/rejection.ts";

const found: StubResponse = { body: { voice: { name: "A" } } };

describe("the client library's patience", () => {
  let server: StubServer;
  let client: Voxledger;
  let waits: number[];

  /** Asks for a voice; the answers come in this order, the last one again and again. */
  const ask = async (answers: readonly StubResponse[], options: object = {}): Promise<unknown> => {
    let given = 0;
    server = await startStubServer(({ url }) => {
      if (url?.startsWith("/v2/config")) return configResponse;
      return answers[Math.min(given++, answers.length - 1)] as StubResponse;
    });
    client = new Voxledger(
      { apiKey: "k", apiSecret: "s", baseUrl: server.url, ...options },
      {
        random: () => 0.5,
        sleep: async (milliseconds) => {
          waits.push(milliseconds);
        },
      },
    );
    return await client.voice("A");
  };
  const timesAsked = (): number => server.requests.filter((line) => line === "GET /v2/voices/A").length;

  beforeEach(() => {
    waits = [];
  });
  afterEach(async () => {
    client.close();
    await server.close();
  });

  it("waits as long as a 429 says, once for each, and asks again", async () => {
    const limited = (seconds: string) =>
      errorResponse(429, "RATE_LIMIT_EXCEEDED", { "Retry-After": seconds });
    expect(await ask([limited("7"), limited("31"), found])).to.deep.equal({ voice: { name: "A" } });
    expect(waits).to.deep.equal([7_000, 31_000]);
    expect(timesAsked()).to.equal(3);
  });

  it("waits twice as long each time, and not all at the same moment, after 502 and 503 that say nothing", async () => {
    await ask([
      errorResponse(502, undefined),
      errorResponse(503, "UNAVAILABLE"),
      errorResponse(502, undefined),
      found,
    ]);
    expect(waits).to.deep.equal([250, 500, 1_000]);
  });

  it("does as a 503 says where it says something", async () => {
    await ask([errorResponse(503, "UNAVAILABLE", { "Retry-After": "2" }), found]);
    expect(waits).to.deep.equal([2_000]);
  });

  it("gives up after as many attempts as it was told, with the last refusal", async () => {
    const error = await rejection(
      ask([errorResponse(429, "RATE_LIMIT_EXCEEDED", { "Retry-After": "1" })], { retryAttempts: 2 }),
    );
    expect(error).to.be.instanceOf(VoxledgerError);
    expect(error).to.include({
      status: 429,
      code: "RATE_LIMIT_EXCEEDED",
      message: "it was 429",
      retryAfterSeconds: 1,
    });
    expect(timesAsked()).to.equal(3);
  });

  it("does not wait for longer than anybody listens", async () => {
    const error = await rejection(
      ask([errorResponse(429, "RATE_LIMIT_EXCEEDED", { "Retry-After": "99999999" })]),
    );
    expect(error).to.include({ status: 429 });
    expect(waits).to.deep.equal([]);
  });

  for (const status of [400, 401, 403, 404, 405, 413, 500]) {
    it(`takes a ${status} for an answer`, async () => {
      expect(await rejection(ask([errorResponse(status, "A_CODE")]))).to.include({ status, code: "A_CODE" });
      expect(timesAsked()).to.equal(1);
    });
  }

  it("tells all that was wrong with what was sent", async () => {
    const errors = [{ path: ["pitch"], message: "too high" }];
    const answer = {
      status: 400,
      body: { error: { message: "no", statusCode: 400, code: "VALIDATION_ERROR", errors } },
    };
    expect(await rejection(ask([answer]))).to.deep.include({ errors });
  });

  it("makes an error of an answer that is not the service's", async () => {
    const page = { status: 404, headers: { "Content-Type": "text/html" }, body: "<h1>Not here</h1>" };
    expect(await rejection(ask([page]))).to.include({ status: 404, message: "The service answered 404." });
  });

  it("does not wait for an answer longer than the timeout, nor asks again", async () => {
    const error = await rejection(ask([{ hang: true }], { timeout: 50 }));
    expect(error).to.include({ code: "TIMEOUT", message: "The service did not answer within 50 ms." });
    expect(timesAsked()).to.equal(1);
  });

  it("asks again when the network fails, and says so in the end", async () => {
    server = await startStubServer(() => configResponse);
    await server.close();
    client = new Voxledger(
      { apiKey: "k", baseUrl: server.url, retryAttempts: 2 },
      { random: () => 1, sleep: async (milliseconds) => void waits.push(milliseconds) },
    );
    expect(await rejection(client.voice("A"))).to.include({ code: "NETWORK", status: undefined });
    expect(waits.length).to.be.at.least(2);
  });

  it("ends whatever it waits for when it is closed", async () => {
    server = await startStubServer(() => ({ hang: true }));
    client = new Voxledger({ apiKey: "k", baseUrl: server.url });
    const asking = rejection(client.voice("A"));
    client.close();
    expect(await asking).to.include({ code: "ABORTED" });
  });
});
