import { once } from "node:events";
import { createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { pino } from "pino";
import { Invalid, Unauthorized, Unavailable } from "../../src/domain/errors.ts";
import type { Route } from "../../src/http/kernel/request-state.ts";
import type { HandleRequest } from "../../src/http/kernel/server.ts";
import { RateLimited } from "../../src/limits/limits.ts";
import { ask } from "../support/in-process-service.ts";
import { routerOf, routerTo, testApp } from "../support/operation-server.ts";

type Steps = Partial<Pick<NonNullable<Route["operation"]>, "admit" | "fromMemory">>;

/** An application with one operation, whose steps can be replaced, and the steps that have run. */
const appWith = (replaced: (ran: string[]) => Steps): { handle: HandleRequest; ran: string[] } => {
  const ran: string[] = [];
  const found = routerTo((ctx) => {
    ran.push("operation");
    ctx.body = "spoken";
  }).find("GET", "/");
  const operation = found.operation && { ...found.operation, ...replaced(ran) };
  return { handle: testApp({ find: () => ({ ...found, operation }) }), ran };
};

const responseOf = async (handle: HandleRequest, refusal?: Error) => {
  const server = createServer((req, res) => handle(req, res, refusal)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  try {
    const { status, text, headers } = await ask(`http://127.0.0.1:${port}/`);
    expect(headers).to.include.keys("x-request-id");
    return { status, text };
  } finally {
    server.close();
  }
};

const wrong = new Unauthorized("The secret is wrong.");

describe("the course of a request", () => {
  it("admits the caller before it looks for audio in memory, and then runs the operation", async () => {
    const { handle, ran } = appWith((steps) => ({
      admit: () => void steps.push("admission"),
      fromMemory: () => steps.push("memory") === 0,
    }));
    expect(await responseOf(handle)).to.deep.equal({ status: 200, text: "spoken" });
    expect(ran).to.deep.equal(["admission", "memory", "operation"]);
  });

  it("looks for no audio for a refused caller", async () => {
    const { handle, ran } = appWith((steps) => ({
      admit: () => {
        throw wrong;
      },
      fromMemory: () => steps.push("memory") > 0,
    }));
    expect(await responseOf(handle)).to.include({ status: 401 });
    expect(ran).to.deep.equal([]);
  });

  it("logs the code and the reason of a refusal, without parts of texts", async () => {
    const lines: Record<string, unknown>[] = [];
    const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
    const invalid = new Invalid([{ path: ["text"], message: 'The tag "confidential" is not closed.' }]);
    for (const refusal of [wrong, new RateLimited("Too many requests.", "burst", 1), invalid]) {
      const handle = testApp(
        routerTo(() => Promise.reject(refusal)),
        { log },
      );
      await responseOf(handle);
    }
    expect(lines.map(({ status, code, reason }) => ({ status, code, reason }))).to.deep.equal([
      { status: 401, code: "UNAUTHORIZED", reason: "The secret is wrong." },
      { status: 429, code: "BURST_RATE_LIMIT_EXCEEDED", reason: "Too many requests." },
      { status: 400, code: "VALIDATION_ERROR", reason: "The request is invalid." },
    ]);
  });

  it("responds with the error of a failed search in memory", async () => {
    const { handle, ran } = appWith(() => ({
      fromMemory: () => {
        throw new Unavailable("The memory is locked.", 1);
      },
    }));
    expect(await responseOf(handle)).to.include({ status: 503 });
    expect(ran).to.deep.equal([]);
  });

  it("admits nobody with a malformed request", async () => {
    const { handle, ran } = appWith((steps) => ({ admit: () => void steps.push("admission") }));
    expect(await responseOf(handle, wrong)).to.include({ status: 401 });
    expect(ran).to.deep.equal([]);
  });

  for (const [when, later] of [
    ["at once", (refuse: () => void) => refuse()],
    ["later", (refuse: () => void) => void setImmediate(refuse)],
  ] as const)
    it(`presents a refusal by the ledger ${when}, and does not run the operation`, async () => {
      const { handle, ran } = appWith(() => ({
        fromMemory: (_req, _res, _state, refuse) => {
          later(() => refuse(new Unavailable("The event store is down.", 1)));
          return true;
        },
      }));
      const { status, text } = await responseOf(handle);
      expect([status, JSON.parse(text).error.code]).to.deep.equal([503, "UNAVAILABLE"]);
      expect(ran).to.deep.equal([]);
    });

  for (const [target, codes] of [
    ["/unknown", ["NOT_FOUND"]],
    ["http://service.test/unknown", ["NOT_FOUND"]],
    ["/admin/unknown", []],
    ["http://service.test/admin/unknown", []],
  ] as const)
    it(`reports the codes ${JSON.stringify(codes)} of errors to callers of the API at ${target}`, async () => {
      const reported: string[] = [];
      const handle = testApp(routerOf([]), { refused: (code) => void reported.push(code) });
      const server = createServer((req, res) => handle(req, res)).listen(0, "127.0.0.1");
      await once(server, "listening");
      const { port } = server.address() as AddressInfo;
      const [response] = await once(get({ port, path: target, agent: false }), "response");
      response.resume();
      await once(response, "end");
      server.close();
      expect([response.statusCode, reported]).to.deep.equal([404, codes]);
    });
});
