import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { documents } from "../../scripts/documents.ts";
import { readSettings, settingNames } from "../../src/settings/read-settings.ts";
import { namesInEnv, read } from "./files.ts";

const root = join(import.meta.dirname, "../..");

/** The service refuses this setting, so no document lists it. */
const refused = "OTEL_CONFIG_FILE";

describe("the settings in documents and deployments", () => {
  for (const [path, text] of documents()) {
    it(`are up to date in ${path}: scripts/documents writes them`, () => {
      expect(readFileSync(join(root, path), "utf8")).to.equal(text);
    });
  }

  it("are all described in docs/operate/settings.md", () => {
    const page = documents().get("docs/operate/settings.md") ?? "";
    const described = [...page.matchAll(/^\| `([A-Z0-9_]+)` \|/gm)].map(([, name]) => name);
    expect(described).to.have.members(settingNames.filter((name) => name !== refused));
  });

  it("are shown in env.example with their defaults or with valid examples", () => {
    const examples = ["PUBLIC_URL", "DRAIN_DELAY_SECONDS"];
    const assignments = [...read("env.example").matchAll(/^# ([A-Z0-9_]+)=(.*)$/gm)];
    const shown = assignments.filter(([, name = ""]) => settingNames.includes(name));
    expect(shown).to.have.length.above(40);
    for (const [, name = "", value = ""] of shown) {
      const given = readSettings({ [name]: value });
      if (!examples.includes(name)) expect(given, name).to.deep.equal(readSettings({}));
    }
  });

  it("are in env.example exactly if compose.yaml reads them", () => {
    const used = [...read("compose.yaml").matchAll(/(?<!\$)\$\{([A-Z0-9_]+)/g)].map(([, name]) => name);
    expect(namesInEnv(read("env.example"))).to.have.members([...new Set(used)]);
  });
});
