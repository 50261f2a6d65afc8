import { Writable } from "node:stream";
import { expect } from "chai";
import { pino } from "pino";
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
