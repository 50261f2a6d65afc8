import { expect } from "chai";
import { pino } from "pino";
import { createReadiness } from "../../../src/application/health/readiness.ts";
import { healthOperations } from "../../../src/http/routes/health.ts";
import { type OperationServer, serveOperations } from "../../support/operation-server.ts";

describe("the log of health checks", () => {
  let server: OperationServer;
  const lines: { level: number; route: string; status: number }[] = [];
  const { levels } = pino;
  const state = { isUp: true };

  const look = async (path: string): Promise<number> => (await fetch(server.url + path)).status;

  beforeEach(async () => {
    state.isUp = true;
    lines.length = 0;
    const checkHealth = async () => ({ status: state.isUp ? ("ok" as const) : ("down" as const), parts: {} });
    const readiness = createReadiness({ checkHealth, clock: Date.now });
    const log = pino({ level: "debug" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
    server = await serveOperations(healthOperations({ checkHealth, readiness, version: "1.2.3" }), { log });
  });
  afterEach(() => server.close());

  const logged = () => lines.map(({ level, route, status }) => [levels.labels[level], route, status]);

  it("is at debug level while the service is healthy", async () => {
    for (const path of ["/health", "/health/live", "/health/ready"]) expect(await look(path)).to.equal(200);
    expect(logged()).to.deep.equal([
      ["debug", "/health", 200],
      ["debug", "/health/live", 200],
      ["debug", "/health/ready", 200],
    ]);
  });

  it("is at info level when the service is down", async () => {
    state.isUp = false;
    expect(await look("/health/ready")).to.equal(503);
    expect(logged()).to.deep.equal([["info", "/health/ready", 503]]);
  });
});
