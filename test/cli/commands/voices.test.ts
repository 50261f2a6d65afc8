import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { catalogStream } from "../../../src/domain/catalog/catalog.ts";
import { defaultNaturalVoices } from "../../../src/domain/catalog/natural-voices.ts";
import type { RecordedEvent } from "../../../src/eventstore/event-store.ts";
import { openSqliteEventStore } from "../../../src/eventstore/sqlite/sqlite-event-store.ts";
import { admin } from "../../support/client.ts";
import { runCommand } from "../../support/command-line.ts";
import { startInProcessService } from "../../support/in-process-service.ts";

describe("the choice of voices", () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "voxledger-choice-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const env = (more: Record<string, string> = {}) => ({
    DATA_DIR: folder,
    NATURAL_VOICES_DIR: "none",
    ...more,
  });
  const voices = (...args: readonly string[]) => runCommand(env(), ["voices", ...args]);
  const chosen = async (): Promise<RecordedEvent["data"][]> => {
    const store = await openSqliteEventStore({ path: join(folder, "events.db"), readOnly: true });
    const events: RecordedEvent[] = [];
    for await (const event of store.readStream(catalogStream)) events.push(event);
    await store.close();
    return events.filter(({ type }) => type === "VoicesChosen").map(({ data }) => data);
  };
  const start = (choice: string) => startInProcessService(env({ VOICES: choice }));

  it("of a new installation is recorded once, by whichever instance starts first", async () => {
    const services = await Promise.all([start("natural"), start("natural"), start("natural")]);
    await Promise.all(services.map((service) => service.close()));
    expect(await chosen()).to.have.length(1);
    expect((await chosen())[0])
      .to.include({ choice: "natural" })
      .and.to.deep.include({ voices: defaultNaturalVoices });
  });

  it("of an installation that has voices stays as it is when a version with natural voices starts", async () => {
    await (await start("classic")).close();
    const service = await start("natural");
    try {
      expect(await chosen()).to.deep.equal([]);
      const { body } = await admin(service.url, "GET", "/voice-choice");
      expect(body).to.deep.equal({
        choice: "classic",
        ...{ voices: [], missing: [] },
        advice: "Natural voices: voxledger voices use natural",
      });
    } finally {
      await service.close();
    }
  });

  it("is changed by the command line and by the admin API, for running instances too", async () => {
    const service = await start("classic");
    try {
      const speakers = async (): Promise<readonly { name: string }[]> => {
        const { body } = await admin(service.url, "GET", "/speaking-voices?limit=1000");
        return (body as unknown as { voices: { name: string }[] }).voices;
      };
      const heartOf = async () => (await speakers()).find(({ name }) => name === "US English Female");
      expect(await heartOf()).to.deep.include({
        ...{ engine: "g1", voiceName: "flite:slt", quality: "classic" },
        better: "hibari:heart: scripts/natural-voices, then voxledger voices use natural",
      });
      const { exitCode, stdout } = await voices("use", "natural");
      expect(exitCode).to.equal(0);
      expect(stdout).to.include("hibari:heart").and.to.include("scripts/natural-voices");
      const { body, status } = await admin(service.url, "PUT", "/voice-choice", { choice: "natural" });
      expect([status, body.choice]).to.deep.equal([200, "natural"]);
      expect(await chosen()).to.have.length(1);
      expect(await heartOf()).to.include({ better: "hibari:heart: scripts/natural-voices" });
      expect((await admin(service.url, "PUT", "/voice-choice", { choice: "classic" })).body.choice).to.equal(
        "classic",
      );
      expect(await chosen()).to.have.length(2);
      expect((await admin(service.url, "PUT", "/voice-choice", { choice: "robot" })).status).to.equal(400);
    } finally {
      await service.close();
    }
  });

  it("is shown with who speaks each voice, and its quality", async () => {
    await (await start("natural")).close();
    const { stdout } = await voices();
    expect(stdout)
      .to.match(/^voices +natural$/m)
      .and.to.match(/^not installed here +hibari:heart, pico:en-GB/m);
    expect(stdout).to.match(/^Dutch Female +nl-NL +f +g1 +espeak:gmw\/nl\+f3 +classic$/m);
    expect(stdout).to.match(
      /^US English Female +en-US +f +g1 +flite:slt +classic +hibari:heart: scripts\/natural-voices$/m,
    );
    expect(stdout).to.match(
      /^Hindi Female .+ classic +kokoro:hf_alpha: scripts\/natural-voices --kokoro, then voxledger voices use natural$/m,
    );
    // Nothing installs a better one.
    expect(stdout).to.match(/^Japanese Female +ja-JP +f +g1 +espeak:jpx\/ja\+f3 +classic$/m);
  });

  it("names the natural voices that are installed on this machine", async () => {
    await (await start("natural")).close();
    const { stdout } = await runCommand({ DATA_DIR: folder }, ["voices"]);
    expect(stdout).to.match(/^US English Female +en-US +f +g1 +hibari:heart +natural$/m);
    expect(stdout).to.match(
      /^UK English Female +en-GB +f +g1 +pico:en-GB +clear +hibari:emma: scripts\/natural-voices, then/m,
    );
  });

  it("has the licences of everything that speaks", async () => {
    const { stdout, exitCode } = await voices("--licences");
    expect(exitCode).to.equal(0);
    for (const name of ["hibari", "SVOX Pico", "Kokoro", "ONNX Runtime", "espeak-ng", "flite", "sherpa-onnx"])
      expect(stdout).to.include(name);
    expect(stdout).to.match(/^espeak-ng +GPL-3\.0-or-later /m);
  });
});
