import { expect } from "chai";
import { OutcomeUnknown } from "../../src/eventstore/command-handler.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { createServingCounter, instrumentLedger } from "../../src/telemetry/decorators/ledger.ts";
import { createCounter, type Instruments } from "../../src/telemetry/instruments.ts";
import { duringTest } from "../support/during.ts";
import { createManualTime } from "../support/manual-time.ts";
import { testPrincipal } from "../support/principal.ts";
import { until } from "../support/processes.ts";
import { rejection } from "../support/rejection.ts";
import { servedAudio } from "../support/served-audio.ts";
import { openTemporaryStore } from "../support/temporary-store.ts";
import { openTestLedger, record } from "../support/test-ledger.ts";

const principal = testPrincipal();

describe("the instrumented ledger", () => {
  const temporary = duringTest(openTemporaryStore);

  /** Instruments whose gauge of open streams can be read. */
  const createGauges = () => {
    let openStreams = Number.NaN;
    const reads: (() => void | Promise<void>)[] = [];
    const instruments: Pick<Instruments, "observe" | "counter"> = {
      counter: () => createCounter([]),
      observe: (_, read) => reads.push(() => read((value) => (openStreams = value))),
    };
    const read = (): number => {
      for (const one of reads) void one();
      return openStreams;
    };
    return { instruments, read };
  };

  it("counts a stream as open from its record to its end", async () => {
    const { instruments, read } = createGauges();
    const opened = await openTestLedger(temporary.store, Date.now);
    const ledger: Ledger = instrumentLedger(instruments, createCounter([]))(opened.ledger);
    const receipt = await record(ledger, principal, servedAudio({ stream: "sse" }));
    await record(ledger, principal, servedAudio());
    expect(read()).to.equal(1);
    ledger.recordStreamEnd(receipt, { hash: "h", outcome: "whole", bytes: 1, chunks: 1 });
    expect(read()).to.equal(0);
    await opened.close(5_000);
  });

  it("does not count a stream that is recorded after its caller was refused", async () => {
    const { instruments, read } = createGauges();
    const [sending, appending] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const time = createManualTime();
    const store: typeof temporary.store = {
      ...temporary.store,
      append: async (stream, events, expected) => {
        if (stream.startsWith("journal-")) sending.resolve();
        if (stream.startsWith("journal-")) await appending.promise;
        return await temporary.store.append(stream, events, expected);
      },
    };
    const voided: string[] = [];
    const count = createServingCounter(instruments as Instruments);
    const opened = await openTestLedger(store, Date.now, {
      time,
      deadlineMs: 1_000,
      onRecorded: (events) => {
        count(events);
        voided.push(...events.map(({ type }) => type));
      },
    });
    const ledger: Ledger = instrumentLedger(instruments, createCounter([]))(opened.ledger);
    const refused = rejection(record(ledger, principal, servedAudio({ stream: "sse" })));
    await sending.promise;
    time.advance(1_000);
    expect(await refused).to.be.instanceOf(OutcomeUnknown);
    appending.resolve();
    await until("the serving is voided", () => voided.includes("ServingsVoided"));
    expect(read()).to.equal(0);
    await opened.close(5_000);
  });
});
