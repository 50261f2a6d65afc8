import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { readSettings, settingNames } from "../../src/settings.ts";
import { namesInEnv, read } from "./files.ts";

const readme = readFileSync(join(import.meta.dirname, "../../README.md"), "utf8");

/** There to be refused. */
const refused = "OTEL_CONFIG_FILE";

const missingFrom = (told: readonly string[]): string[] =>
  settingNames.filter((name) => name !== refused && !told.includes(name));

describe("the settings, as operators are told of them", () => {
  it("are all in env.example", () => {
    expect(missingFrom(namesInEnv(read("env.example")))).to.deep.equal([]);
  });

  it("stand in env.example with their defaults, or with examples that are good", () => {
    const examples = ["PUBLIC_URL", "DRAIN_DELAY_SECONDS"];
    const [, section = ""] =
      /# --- settings of the service.*\n((?:(?!# ---).*\n)+)/.exec(read("env.example")) ?? [];
    const shown = [...section.matchAll(/^# ([A-Z0-9_]+)=(.*)$/gm)].map(([, name = "", value = ""]) => [
      name,
      value,
    ]);
    expect(shown).not.to.deep.equal([]);
    for (const [name = "", value = ""] of shown) {
      const read = readSettings({ [name]: value });
      if (!examples.includes(name)) expect(read, name).to.deep.equal(readSettings({}));
    }
  });

  it("are all in the README, OpenTelemetry's own as a family", () => {
    const told = [...readme.matchAll(/`([A-Z][A-Z0-9_]*)`/g)].map(([, name = ""]) => name);
    expect(missingFrom(told).filter((name) => !name.startsWith("OTEL_"))).to.deep.equal([]);
    expect(readme).to.contain("`OTEL_");
  });
});
