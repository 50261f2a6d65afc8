import { expect } from "chai";
import { Voxledger, VoxledgerError } from "../../../src/client/voxledger.ts";
import {
  configResponse,
  errorResponse,
  type StubResponse,
  type StubServer,
  startStubServer,
} from "../../support/client-library/stub-server.ts";
import { createManualTime, type ManualTime } from "../../support/manual-time.ts";
import { rejection } from "../../support/rejection.ts";

const found: StubResponse = { body: { voice: { name: "A" } } };

describe("retries of the client library", () => {
  let server: StubServer;
  let client: Voxledger;
  let delays: number[];
  let time: ManualTime;
  let requested: PromiseWithResolvers<void>;

  /** Requests a voice from a server with these responses; the last one is repeated. */
  const requestVoice = async (responses: readonly StubResponse[], options: object = {}): Promise<unknown> => {
    let sent = 0;
    server = await startStubServer(({ url }) => {
      if (url?.startsWith("/v2/config")) return configResponse;
      requested.resolve();
      return responses[Math.min(sent++, responses.length - 1)] as StubResponse;
    });
    client = new Voxledger(
      { apiKey: "k", apiSecret: "s", baseUrl: server.url, ...options },
      {
        startTimer: time.after,
        random: () => 0.5,
        sleep: async (milliseconds) => {
          delays.push(milliseconds);
        },
      },
    );
    return await client.voice("A");
  };
  const attempts = (): number => server.requests.filter((line) => line === "GET /v2/voices/A").length;

  beforeEach(() => {
    delays = [];
    time = createManualTime();
    requested = Promise.withResolvers();
  });
  afterEach(async () => {
    client.close();
    await server.close();
  });

  it("waits for Retry-After after each 429", async () => {
    const limited = (seconds: string) =>
      errorResponse(429, "RATE_LIMIT_EXCEEDED", { "Retry-After": seconds });
    expect(await requestVoice([limited("7"), limited("31"), found])).to.deep.equal({ voice: { name: "A" } });
    expect(delays).to.deep.equal([7_000, 31_000]);
    expect(attempts()).to.equal(3);
  });

  it("backs off exponentially with jitter after a 502 or 503 without Retry-After", async () => {
    await requestVoice([
      errorResponse(502, undefined),
      errorResponse(503, "UNAVAILABLE"),
      errorResponse(502, undefined),
      found,
    ]);
    expect(delays).to.deep.equal([250, 500, 1_000]);
  });

  it("waits for Retry-After after a 503", async () => {
    await requestVoice([errorResponse(503, "UNAVAILABLE", { "Retry-After": "2" }), found]);
    expect(delays).to.deep.equal([2_000]);
  });

  it("throws the last error after `retryAttempts` retries", async () => {
    const error = await rejection(
      requestVoice([errorResponse(429, "RATE_LIMIT_EXCEEDED", { "Retry-After": "1" })], { retryAttempts: 2 }),
    );
    expect(error).to.be.instanceOf(VoxledgerError);
    expect(error).to.include({
      status: 429,
      code: "RATE_LIMIT_EXCEEDED",
      message: "status 429",
      retryAfterSeconds: 1,
    });
    expect(attempts()).to.equal(3);
  });

  it("throws at once if Retry-After exceeds 15 minutes", async () => {
    const error = await rejection(
      requestVoice([errorResponse(429, "RATE_LIMIT_EXCEEDED", { "Retry-After": "99999999" })]),
    );
    expect(error).to.include({ status: 429 });
    expect(delays).to.deep.equal([]);
  });

  for (const status of [400, 401, 403, 404, 405, 413, 500]) {
    it(`does not retry a ${status}`, async () => {
      expect(await rejection(requestVoice([errorResponse(status, "A_CODE")]))).to.include({
        status,
        code: "A_CODE",
      });
      expect(attempts()).to.equal(1);
    });
  }

  it("exposes the validation errors of a 400", async () => {
    const errors = [{ path: ["pitch"], message: "too high" }];
    const response = {
      status: 400,
      body: { error: { message: "no", statusCode: 400, code: "VALIDATION_ERROR", errors } },
    };
    expect(await rejection(requestVoice([response]))).to.deep.include({ errors });
  });

  it("names the status of an error response without an envelope", async () => {
    const page = { status: 404, headers: { "Content-Type": "text/html" }, body: "<h1>Not here</h1>" };
    expect(await rejection(requestVoice([page]))).to.include({
      status: 404,
      message: "The service responded with 404.",
    });
  });

  it("aborts a request after the timeout and does not retry it", async () => {
    const failure = rejection(requestVoice([{ hang: true }], { timeout: 50 }));
    await requested.promise;
    time.advance(50);
    expect(await failure).to.include({
      code: "TIMEOUT",
      message: "The service did not respond within 50 ms.",
    });
    expect(attempts()).to.equal(1);
  });

  it("retries network errors and throws NETWORK at last", async () => {
    server = await startStubServer(() => configResponse);
    await server.close();
    client = new Voxledger(
      { apiKey: "k", baseUrl: server.url, retryAttempts: 2 },
      { random: () => 1, sleep: async (milliseconds) => void delays.push(milliseconds) },
    );
    expect(await rejection(client.voice("A"))).to.include({ code: "NETWORK", status: undefined });
    expect(delays.length).to.be.at.least(2);
  });

  it("rejects pending requests with ABORTED when it is closed", async () => {
    server = await startStubServer(() => ({ hang: true }));
    client = new Voxledger({ apiKey: "k", baseUrl: server.url });
    const pending = rejection(client.voice("A"));
    client.close();
    expect(await pending).to.include({ code: "ABORTED" });
  });
});
