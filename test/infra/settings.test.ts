import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { readSettings, settingNames } from "../../src/settings.ts";
import { namesInEnv, read } from "./files.ts";

const readme = readFileSync(join(import.meta.dirname, "../../README.md"), "utf8");

/** The service refuses this setting, so no document lists it. */
const refused = "OTEL_CONFIG_FILE";

const missingFrom = (documented: readonly string[]): string[] =>
  settingNames.filter((name) => name !== refused && !documented.includes(name));

describe("the settings in the operators' documents", () => {
  it("are all listed in env.example", () => {
    expect(missingFrom(namesInEnv(read("env.example")))).to.deep.equal([]);
  });

  it("are shown in env.example with their defaults or with valid examples", () => {
    const examples = ["PUBLIC_URL", "DRAIN_DELAY_SECONDS"];
    const [, section = ""] =
      /# --- settings of the service.*\n((?:(?!# ---).*\n)+)/.exec(read("env.example")) ?? [];
    const assignments = [...section.matchAll(/^# ([A-Z0-9_]+)=(.*)$/gm)].map(([, name = "", value = ""]) => [
      name,
      value,
    ]);
    expect(assignments).not.to.deep.equal([]);
    for (const [name = "", value = ""] of assignments) {
      const read = readSettings({ [name]: value });
      if (!examples.includes(name)) expect(read, name).to.deep.equal(readSettings({}));
    }
  });

  it("are all listed in the README, those of OpenTelemetry by their prefix", () => {
    const documented = [...readme.matchAll(/`([A-Z][A-Z0-9_]*)`/g)].map(([, name = ""]) => name);
    expect(missingFrom(documented).filter((name) => !name.startsWith("OTEL_"))).to.deep.equal([]);
    expect(readme).to.contain("`OTEL_");
  });
});
