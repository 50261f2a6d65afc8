import { expect } from "chai";
import { catalog as catalogProjection } from "../../../projections/catalog.ts";
import { isVoiceReported, platforms } from "../../../projections/platforms.ts";
import { createProjectionRunner, type ProjectionRunner } from "../../../projections/runner/runner.ts";
import { createVoiceReports, type ReportVoices } from "../../../src/application/catalog/voice-reports.ts";
import { createExecuteCommand } from "../../../src/application/execute-command.ts";
import { createCommandHandler } from "../../../src/eventstore/command-handler.ts";
import type { RecordedEvent } from "../../../src/eventstore/event-store.ts";
import { collect } from "../../support/collect.ts";
import { duringTest } from "../../support/during.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";

const now = "2026-03-01T12:00:00.000Z";
const platform = { browser: "Safari", browserVersion: "17.2", os: "macOS", osVersion: "14.1" };
const samantha = { name: "Samantha (English (US))", lang: "en_US", localService: true };

describe("a voice report", () => {
  const temporary = duringTest(openTemporaryStore);
  let runner: ProjectionRunner;
  let report: ReportVoices;

  beforeEach(async () => {
    const { store } = temporary;
    runner = createProjectionRunner({ store, projections: [catalogProjection, platforms] });
    await runner.start();
    report = createVoiceReports({
      execute: createExecuteCommand({ handler: createCommandHandler({ store }), runner }),
      catalog: runner.view(catalogProjection),
      clock: () => Date.parse(now),
    });
  });
  afterEach(async () => {
    await runner.close();
  });

  const log = async (): Promise<RecordedEvent[]> => {
    const events: RecordedEvent[] = [];
    for await (const batch of temporary.store.subscribe({})) {
      events.push(...batch.events);
      if (batch.caughtUp) break;
    }
    return events;
  };

  it("is stored in the platform's stream and visible in the view when it resolves", async () => {
    await report({ platform, voices: [samantha] });
    const [event, ...others] = await collect(temporary.store.readStream("platform-safari-macos"));
    expect(others).to.deep.equal([]);
    expect(event).to.deep.include({
      type: "VoicesReported",
      data: {
        browserVersion: 17,
        osVersion: 14,
        voices: [{ name: "Samantha", lang: "en-US", localService: true }],
        at: now,
      },
    });
    const reported = { browser: "safari", os: "macos" } as const;
    expect(isVoiceReported(runner.view(platforms), reported, { id: 1, name: "Samantha" })).to.equal(true);
  });

  it("stores nothing that identifies the reporter", async () => {
    const identifying = { ...samantha, voiceURI: "file:///Users/jane/voice", default: true };
    await report({
      platform: { ...platform, deviceType: "desktop" } as typeof platform,
      voices: [identifying],
    });
    const [event] = await log();
    expect(event?.metadata).to.deep.equal({ actor: "system" });
    expect(JSON.stringify(event)).to.not.match(/jane|voiceURI|default|desktop|17\.2|14\.1/);
  });

  it("is not stored again when it is repeated", async () => {
    for (let i = 0; i < 5; i++) await report({ platform, voices: [samantha] });
    await Promise.all(Array.from({ length: 20 }, () => report({ platform, voices: [samantha] })));
    expect(await log()).to.have.length(1);
  });

  it("is not stored for an unknown platform or without a valid voice", async () => {
    await report({ platform: { ...platform, browser: "Netscape" }, voices: [samantha] });
    await report({ platform: { ...platform, os: "" }, voices: [samantha] });
    await report({ platform, voices: [] });
    await report({ platform, voices: [{ ...samantha, name: "/home/jane" }] });
    expect(await log()).to.deep.equal([]);
  });
});
