import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { expect } from "chai";
import { pino } from "pino";
import type { SynthesisPlan } from "../../../../src/application/synthesis/planner.ts";
import { Unavailable } from "../../../../src/domain/errors.ts";
import type { Receipt } from "../../../../src/domain/ledger/journal/serving.ts";
import type { RequestState } from "../../../../src/http/kernel/request-state.ts";
import { createMemoryResponses } from "../../../../src/http/routes/synthesis/from-memory.ts";
import type { RecordCallback } from "../../../../src/ledger/ledger.ts";
import { admin, authorize, type Credentials, registerWebsite } from "../../../support/client.ts";
import {
  ask,
  type InProcessService,
  type ReceivedResponse,
  startInProcessService,
} from "../../../support/in-process-service.ts";
import { testLimits } from "../../../support/test-limits.ts";
import { goodCredentials, serveProviders, type WireProviders } from "../../../support/wire/providers.ts";

const speech = "/v2/text/synthesize?voice=UK%20English%20Female&text=ten%20chars!";

/** An unknown range unit changes no response, but the request then runs the operation. */
const theLongWay = { Range: "lines=1-2" };

/** The headers that differ between any two requests. */
const itsOwn = new Set(["date", "x-request-id", "x-ratelimit-remaining"]);

const shown = ({ status, headers, text }: ReceivedResponse) => ({
  status,
  headers: Object.entries(headers)
    .filter(([name]) => !itsOwn.has(name))
    .sort(),
  text,
});

const state = {
  requestId: "a request",
  route: {},
  caller: { principal: { apiKey: "vlk_1" }, admission: { limit: 1, remaining: 1 } },
} as unknown as RequestState;

const plan = { renditions: [{ recipe: { text: "ten chars!" } }], muted: false } as unknown as SynthesisPlan;

describe("a response from memory", () => {
  let service: InProcessService;
  const lines: {
    fastPath?: true;
    status: number;
    route: string;
    apiKey?: string;
    requestId: string;
    reason?: string;
  }[] = [];
  const taken = () => lines.filter(({ fastPath }) => fastPath);

  before(async () => {
    const log = pino({ level: "debug" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
    // A burst that lasts long counts as one.
    service = await startInProcessService({ BURST_WINDOW_MS: "60000" }, log);
    await prepare(await registerWebsite(service.url));
  });
  after(() => service.close());
  beforeEach(() => {
    service.time.now += 60_000; // a new minute for the rate limits
    lines.length = 0;
  });

  const get = (path: string, headers: Record<string, string>) => ask(service.url + path, { headers });

  /** Synthesizes the audio, so that it is in memory and its URL is prepared. */
  const prepare = async (website: Credentials): Promise<void> => {
    await get(speech, { ...authorize(website), ...theLongWay });
  };

  const suspend = ({ apiKey }: Credentials) =>
    admin(service.url, "POST", `/keys/${apiKey}/suspend`, { reason: "unpaid" });
  const repeated = async (times: number, headers: Record<string, string>): Promise<void> => {
    for (let i = 0; i < times; i++) await get(speech, headers);
  };

  interface Case {
    readonly status: number;
    readonly code?: string;
    readonly plan?: Record<string, unknown>;
    readonly before?: (website: Credentials, way: Record<string, string>) => Promise<unknown>;
    readonly as?: (website: Credentials) => Record<string, string>;
  }
  const cases: Record<string, Case> = {
    audio: { status: 200 },
    "audio for a page": {
      status: 200,
      as: (website) => ({ ...authorize(website), Origin: "https://shop.example" }),
    },
    "a wrong secret": {
      status: 401,
      code: "UNAUTHORIZED",
      as: ({ apiKey }) => ({ "X-API-Key": apiKey, "X-API-Secret": "wrong" }),
    },
    "a suspended key": { status: 403, code: "KEY_SUSPENDED", before: suspend },
    "a quota without room": { status: 403, code: "KEY_SUSPENDED", plan: { monthlyCharacters: 5 } },
    "a minute that is used up": {
      status: 429,
      code: "RATE_LIMIT_EXCEEDED",
      plan: { requestsPerMinute: 3 },
      before: (website, way) => repeated(3, { ...authorize(website), ...way }),
    },
    "a burst": {
      status: 429,
      code: "BURST_RATE_LIMIT_EXCEEDED",
      plan: { requestsPerMinute: 100 },
      before: (website, way) => repeated(20, { ...authorize(website), ...way }),
    },
    "a wrong secret after too many": {
      status: 429,
      code: "RATE_LIMIT_EXCEEDED",
      before: ({ apiKey }, way) => repeated(30, { "X-API-Key": apiKey, "X-API-Secret": "wrong", ...way }),
      as: ({ apiKey }) => ({ "X-API-Key": apiKey, "X-API-Secret": "wrong" }),
    },
    "a correct secret after too many wrong ones": {
      status: 200,
      before: ({ apiKey }, way) => repeated(31, { "X-API-Key": apiKey, "X-API-Secret": "wrong", ...way }),
    },
  };

  for (const [what, { status, code, plan = {}, before: first, as = authorize }] of Object.entries(cases)) {
    it(`is the operation's for ${what}: ${status}`, async () => {
      const responses: ReceivedResponse[] = [];
      for (const way of [{}, theLongWay] as Record<string, string>[]) {
        const website = await registerWebsite(service.url, plan);
        if (what === "audio for a page") {
          const origins = { origins: ["https://shop.example"] };
          await admin(service.url, "PUT", `/websites/${website.id}/origins`, origins);
        }
        await first?.(website, way);
        lines.length = 0;
        responses.push(await get(speech, { ...as(website), ...way }));
        const isTaken = status === 200 && way !== theLongWay;
        expect(taken(), JSON.stringify(way)).to.have.length(isTaken ? 1 : 0);
        service.time.now += 60_000;
      }
      const [fast, slow] = responses as [ReceivedResponse, ReceivedResponse];
      expect(shown(fast)).to.deep.equal(shown(slow));
      expect(fast.status).to.equal(status);
      if (code) expect(JSON.parse(fast.text).error).to.include({ statusCode: status, code });
      if (status !== 401) expect(fast.headers).to.include.keys("x-ratelimit-limit", "x-ratelimit-remaining");
    });
  }

  it("logs the key, the request id and the status at debug level", async () => {
    const website = await registerWebsite(service.url);
    lines.length = 0;
    const { headers } = await get(speech, authorize(website));
    expect(taken()).to.have.length(1);
    expect(taken()[0]).to.include({
      level: 20,
      requestId: headers["x-request-id"],
      route: "/v2/text/synthesize",
      status: 200,
      apiKey: website.apiKey,
    });
  });

  /** The refusals for want of characters that the instance has counted. */
  const countedRefusals = async (): Promise<number> => {
    const { body } = await admin(service.url, "GET", "/status");
    const hours = body.activity as readonly { readonly refused: Readonly<Record<string, number>> }[];
    return hours.reduce((sum, { refused }) => sum + (refused.KEY_SUSPENDED ?? 0), 0);
  };

  it("leaves refusals to be logged and counted as those of any other request", async () => {
    const refusedBefore = await countedRefusals();
    const website = await registerWebsite(service.url, { monthlyCharacters: 5 });
    lines.length = 0;
    const { status, headers } = await get(speech, authorize(website));
    expect(status).to.equal(403);
    const logged = lines.filter(({ requestId }) => requestId === headers["x-request-id"]);
    expect(logged).to.have.length(1);
    expect(logged[0]).to.include({ level: 30, status: 403, code: "KEY_SUSPENDED", apiKey: website.apiKey });
    expect(logged[0]?.reason).to.match(/^The key is suspended: /);
    expect(await countedRefusals()).to.equal(refusedBefore + 1);
  });

  it("is not sent to conditional requests, other methods or silence", async () => {
    const website = authorize(await registerWebsite(service.url));
    for (const headers of [{ "If-None-Match": "*" }, { Range: "bytes=0-1" }] as Record<string, string>[]) {
      await get(speech, { ...website, ...headers });
    }
    await ask(service.url + speech, { method: "HEAD", headers: website });
    for (let i = 0; i < 2; i++) await get(`${speech}&volume=0`, website);
    expect(taken()).to.deep.equal([]);
  });

  it("is left to the operation while the catalog is out of date", () => {
    const memory = createMemoryResponses({
      synthesis: {
        isCurrent: () => {
          throw new Unavailable("The view catalog is out of date.", 5);
        },
      },
    } as unknown as Parameters<typeof createMemoryResponses>[0]);
    memory.prepare(speech, plan);
    const request = { method: "GET", url: speech, headers: {} } as IncomingMessage;
    const isAnswered = memory.respond(request, {} as ServerResponse, state, () => expect.fail("refused"));
    expect(isAnswered).to.equal(false);
  });

  it("is voided for a pipelined request whose client has left before it was recorded, and holds no audio for it", async () => {
    const { unread } = testLimits({ UNREAD_AUDIO_BYTES: 1 });
    const recorded: RecordCallback[] = [];
    const voided: Receipt[] = [];
    const memory = createMemoryResponses({
      synthesis: {
        isCurrent: () => true,
        usesSharedPlans: () => true,
        fromMemory: () => ({ bytes: Buffer.alloc(100) }),
        recordFromMemory: (...args: unknown[]) => recorded.push(args.at(-1) as RecordCallback),
        callerDisconnected: (receipt: Receipt) => voided.push(receipt),
      },
      presenter: { headersFromMemory: () => [] },
      unread,
      log: pino({ level: "silent" }),
    } as unknown as Parameters<typeof createMemoryResponses>[0]);
    memory.prepare(speech, plan);
    const closed: Promise<unknown>[] = [];
    const server = createServer((request, response) => {
      closed.push(once(response, "close"));
      memory.respond(request, response, state, () => expect.fail("refused"));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
    client.write(`GET ${speech} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(2));
    while (recorded.length < 2) await new Promise(setImmediate);
    client.destroy();
    await Promise.all(closed);
    const receipts = recorded.map((_, n) => ({ journal: String(n) }) as Receipt);
    for (const [n, done] of recorded.entries()) done(undefined, receipts[n]);
    expect(voided).to.deep.equal(receipts);
    expect(() => unread.requireRoom("vlk_1")).to.not.throw();
    server.close();
  });

  for (const order of ["NFC", "NFD"] as const) {
    it(`links marks for the NFC text alone, though the NFD text has the same audio and ${order} was requested first`, async () => {
      const website = authorize(await registerWebsite(service.url));
      const text = `\u00c9t\u00e9 \u00e0 ${order}.`;
      const path = (form: string) =>
        `/v2/text/synthesize?lang=fr-FR&text=${encodeURIComponent(text.normalize(form))}`;
      const forms = order === "NFC" ? ["NFC", "NFD"] : ["NFD", "NFC"];
      const responses: Record<string, ReceivedResponse> = {};
      for (const form of forms) await get(path(form), website);
      for (const form of forms) responses[form] = await get(path(form), website);
      expect(taken()).to.have.length(2);
      expect(responses.NFD?.headers.etag).to.equal(responses.NFC?.headers.etag);
      expect(responses.NFC?.headers.link).to.include("marks.json");
      expect(responses.NFD?.headers.link).to.equal(undefined);
    });
  }

  it("observes a changed catalog from the next request on", async () => {
    const website = authorize(await registerWebsite(service.url));
    const systemVoice = async (name: string, voiceName: string) => {
      const voice = { name, lang: "en-GB", service: "g1", voiceName };
      return (await admin(service.url, "POST", "/system-voices", voice)).body.id;
    };
    const ids = [await systemVoice("One", "espeak:gmw/en+f3"), await systemVoice("Two", "espeak:gmw/en+m3")];
    const voice = { name: "Changeable", flag: "gb", gender: "f", lang: "en-GB", voiceIDs: [ids[0]] };
    await admin(service.url, "POST", "/voices", voice);
    const path = "/v2/text/synthesize?voice=Changeable&text=Hello.";
    const [, first] = [await get(path, website), await get(path, website)];
    expect(taken()).to.have.length(1);
    await admin(service.url, "PATCH", "/voices/Changeable", { voiceIDs: [ids[1]] });
    const [changed, again] = [await get(path, website), await get(path, website)];
    expect(taken()).to.have.length(2);
    expect(changed.headers.etag).to.not.equal(first.headers.etag);
    expect(again.headers.etag).to.equal(changed.headers.etag);
    expect(again.text).to.equal(changed.text);
  });

  describe("with a website that has BYOK voices", () => {
    let providers: WireProviders;
    let withVoices: InProcessService;
    let owner: Record<string, string>;
    let other: Record<string, string>;
    const path = "/v2/text/synthesize?voice=UK%20English%20Female&text=Shared%20by%20all.";
    const askTwice = async (address: string, headers: Record<string, string>) => {
      for (let i = 0; i < 2; i++) {
        expect((await ask(withVoices.url + address, { headers })).status).to.equal(200);
      }
    };

    before(async () => {
      providers = await serveProviders();
      const log = pino({ level: "debug" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
      withVoices = await startInProcessService(providers.env, log);
      const website = await registerWebsite(withVoices.url);
      const set = await admin(
        withVoices.url,
        "PUT",
        `/websites/${website.id}/credentials/oai`,
        goodCredentials.oai,
      );
      expect(set.status).to.equal(200);
      owner = authorize(website);
      other = authorize(await registerWebsite(withVoices.url));
    });
    after(async () => {
      await withVoices.close();
      await providers.close();
    });

    it("is sent to repeated requests of that website for a shared voice", async () => {
      await askTwice(`${path}&n=1`, owner);
      expect(taken()).to.have.length(1);
    });

    it("is sent to another website's requests for the same URL", async () => {
      await askTwice(`${path}&n=2`, owner);
      lines.length = 0;
      await askTwice(`${path}&n=2`, other);
      expect(taken()).to.have.length(2);
    });

    it("is not sent to requests for BYOK voices", async () => {
      await askTwice("/v2/text/synthesize?voice=alloy&text=My%20own.", owner);
      expect(taken()).to.deep.equal([]);
    });
  });
});
