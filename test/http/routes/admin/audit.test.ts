import { once } from "node:events";
import { type IncomingMessage, type RequestOptions, request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import type { EventStore } from "../../../../src/eventstore/event-store.ts";
import { openSqliteEventStore } from "../../../../src/eventstore/sqlite/sqlite-event-store.ts";
import { auditOperation } from "../../../../src/http/routes/admin/ledger/usage-and-audit.ts";
import { createAudit } from "../../../../src/ledger/audit/audit.ts";
import { collect } from "../../../support/collect.ts";
import { parseCsv } from "../../../support/csv.ts";
import { append, busyMonth, issued, type LogEvent } from "../../../support/logged-events.ts";
import { type OperationServer, serveOperations } from "../../../support/operation-server.ts";
import { rejection } from "../../../support/rejection.ts";
import { countSubscriptions, type SubscriptionCounter } from "../../../support/subscription-counter.ts";
import { openTemporaryStore, type TemporaryStore } from "../../../support/temporary-store.ts";

describe("GET /admin/audit", () => {
  let temporary: TemporaryStore;
  let store: SubscriptionCounter;
  let server: OperationServer;
  let socketPath: string;

  const open = async (events: readonly LogEvent[]): Promise<void> => {
    temporary = await openTemporaryStore();
    await append(temporary.store, events);
  };
  const serve = async (log = temporary.store): Promise<void> => {
    store = countSubscriptions(log);
    // A Unix socket, because its buffers are small: unread data of a slow client accumulates in the
    // service.
    socketPath = join(temporary.folder, "http");
    server = await serveOperations([auditOperation({ audit: createAudit({ store }) })], { socketPath });
  };
  beforeEach(() => serve());
  afterEach(() => server.close());

  /** Serves the log from a store that the test may close. */
  const serveAgain = async (): Promise<EventStore> => {
    await server.close();
    const again = await openSqliteEventStore({ path: join(temporary.folder, "events.db") });
    await serve(again);
    return again;
  };

  const ask = async (query = "", options: RequestOptions = {}): Promise<IncomingMessage> => {
    const outgoing = request({ socketPath, path: `/admin/audit${query}`, ...options }).end();
    const [response] = await once(outgoing, "response");
    return response;
  };
  const read = async (query = "", options: RequestOptions = {}) => text(await ask(query, options));
  const entries = async (query = "") => linesOf(await read(query));

  describe("on a log", () => {
    before(() => open(busyMonth(300)));
    after(() => temporary.remove());

    it("returns every entry as a line of JSON", async () => {
      const response = await ask();
      expect(response.statusCode).to.equal(200);
      expect(response.headers).to.include({ "content-type": "application/x-ndjson", vary: "Accept" });
      expect(linesOf(await text(response))).to.deep.equal(await collect(createAudit({ store })({})));
      expect(response.complete).to.equal(true);
    });

    it("returns CSV if Accept prefers it or the query requests it", async () => {
      const response = await ask("", { headers: { Accept: "text/csv, application/x-ndjson;q=0.5" } });
      expect(response.headers["content-type"]).to.equal("text/csv; charset=utf-8; header=present");
      const csv = await text(response);
      expect(await read("?format=csv")).to.equal(csv);
      const [header, ...rows] = parseCsv(csv);
      expect(header?.slice(0, 3)).to.deep.equal(["position", "index", "stream"]);
      const expected = await entries();
      expect(rows.map((row) => JSON.parse(row[7] ?? ""))).to.deep.equal(expected.map(({ data }) => data));
    });

    it("returns lines of JSON if neither type is acceptable", async () => {
      const response = await ask("", { headers: { Accept: "application/json" } });
      expect(response.headers["content-type"]).to.equal("application/x-ndjson");
      response.destroy();
    });

    it("filters by key and period, and continues after a position", async () => {
      const ofKey = await entries("?apiKey=ab&from=2026-10-01T01:00:00Z&to=2026-10-01T02:00:00%2B00:00");
      expect(ofKey).to.not.be.empty;
      expect(ofKey.every(({ stream, at }) => stream === "journal-j1" && at.slice(11, 13) === "01")).to.equal(
        true,
      );
      const after = ofKey.at(-1)?.position;
      expect(await entries(`?apiKey=ab&after=${after}&to=2026-10-01T02:00:00Z`)).to.deep.equal([]);
    });

    it("filters by type and stream, in every format", async () => {
      const all = (await entries()) as unknown as { type: string; stream: string }[];
      const stream = all[0]?.stream ?? "";
      const issuances = all.filter(({ type }) => type === "KeyIssued");
      expect(issuances).to.not.be.empty;
      expect(await entries("?type=KeyIssued")).to.deep.equal(issuances);
      const ofStream = all.filter((entry) => entry.stream.startsWith(stream));
      expect(await entries(`?stream=${stream}`)).to.deep.equal(ofStream);
      const rows = parseCsv(await read("?type=KeyIssued&format=csv"));
      expect(rows.length).to.equal(1 + issuances.length);
      expect(await read("?type=KeyIssued&format=cloudevents")).to.equal("");
    });

    it("sends no body to HEAD, and stops reading the log", async () => {
      const response = await ask("", { method: "HEAD" });
      expect(response.statusCode).to.equal(200);
      expect(await text(response)).to.equal("");
      await store.allEnded();
    });
  });

  describe("refuses", () => {
    before(() => open(issued("abc")));
    after(() => temporary.remove());

    for (const [query, path] of [
      ["?from=yesterday", "from"],
      ["?to=2026-02-30", "to"],
      ["?after=-1", "after"],
      ["?after=", "after"],
      ["?format=xml", "format"],
      ["?from=2026-11-01&from=2026-11-02", "from"],
    ] as const) {
      it(`${query} with 400 and its path`, async () => {
        const response = await ask(query);
        expect(response.statusCode).to.equal(400);
        const { error } = JSON.parse(await text(response));
        expect(error).to.include({ code: "VALIDATION_ERROR", statusCode: 400 });
        expect(error.errors.map((problem: { path: string[] }) => problem.path)).to.deep.equal([[path]]);
      });
    }

    it("an unknown key with 404", async () => {
      expect((await ask("?apiKey=ab")).statusCode).to.equal(404);
    });

    it("with 503 if the event store cannot be read", async () => {
      await (await serveAgain()).close();
      const response = await ask();
      expect(response.statusCode).to.equal(503);
      expect(response.headers).to.have.property("retry-after");
    });
  });

  describe("on a long log", () => {
    const long = busyMonth(20_000);
    before(() => open(long));
    after(() => temporary.remove());

    /** The first bytes of a response whose rest is not read. */
    const begun = async (): Promise<IncomingMessage> => {
      const response = await ask();
      await once(response, "readable");
      return response;
    };

    it("applies backpressure for a slow client, and loses nothing", async () => {
      const response = await begun();
      let received = 0;
      let furthest = 0;
      for await (const chunk of response) {
        received += chunk.toString("latin1").split("\n").length - 1;
        furthest = Math.max(furthest, store.delivered - received);
        await new Promise(setImmediate);
      }
      expect(response.complete).to.equal(true);
      expect(received).to.equal(long.filter(({ stream }) => !stream.startsWith("rate-")).length);
      expect(furthest).to.be.below(long.length / 2);
    });

    it("stops reading the log when the client disconnects", async () => {
      const response = await begun();
      expect(store.open).to.equal(1);
      response.destroy();
      await store.allEnded();
      expect(store.delivered).to.be.below(long.length);
    });

    it("aborts the connection on a later error, so that a truncated audit never looks complete", async () => {
      const log = await serveAgain();
      const response = await begun();
      await log.close();
      expect(await rejection(text(response))).to.be.instanceOf(Error);
      expect(response.complete).to.equal(false);
    });
  });
});

interface Line {
  readonly position: number;
  readonly stream: string;
  readonly at: string;
  readonly data: object;
}

const linesOf = (body: string): Line[] =>
  body
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
