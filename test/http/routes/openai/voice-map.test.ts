import { Writable } from "node:stream";
import { expect } from "chai";
import { pino } from "pino";
import { voiceMapOf } from "../../../../src/http/routes/openai/voice-map.ts";
import { startInProcessService } from "../../../support/in-process-service.ts";

describe("the voices of OPENAI_VOICE_MAP", () => {
  it("that are not in the shared catalog are named in the log at the start", async () => {
    const lines: string[] = [];
    const stream = new Writable({
      write: (line, _, done) => {
        lines.push(String(line));
        done();
      },
    });
    const service = await startInProcessService(
      { OPENAI_VOICE_MAP: "alloy=German Female, narrator=g1-en-GB-male, broken=UK English Femail" },
      pino({ level: "warn" }, stream),
    );
    await service.close();
    expect(lines.map((line) => JSON.parse(line).msg)).to.deep.equal([
      'OPENAI_VOICE_MAP: broken stands for "UK English Femail", which is not in the shared catalog: only websites with a voice of that name can use it',
    ]);
  });
});

describe("the map of OpenAI's voices", () => {
  it("finds names in their own case, or else ignoring it", () => {
    const { find } = voiceMapOf({ bot: "A", Bot: "B" });
    expect(["bot", "Bot", "Nova"].map((name) => find(name)?.name)).to.deep.equal([
      ...["A", "B", "UK English Female"],
    ]);
    expect(find("nobody")).to.equal(undefined);
  });

  it("has the operator's entries instead of default ones, whose names may be written in another case", () => {
    const { find, entries } = voiceMapOf({ Alloy: "German Female" });
    for (const name of ["alloy", "Alloy", "ALLOY"])
      expect(find(name)).to.deep.equal({ name: "German Female" });
    expect(entries.filter(([name]) => /^alloy$/i.test(name))).to.have.length(1);
  });
});
