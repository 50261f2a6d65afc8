import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { prometheusName } from "../../src/telemetry/metric-definition.ts";
import { metricDefinitions } from "../../src/telemetry/metrics.ts";
import { readYaml } from "../infra/files.ts";
import { readPage, root } from "./pages.ts";

const path = "docs/operate/runbook.md";
const page = readPage(path);

interface Rule {
  readonly alert: string;
  readonly annotations: Readonly<Record<string, string>>;
}
const { groups } = readYaml("prometheus/rules.yml") as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);

/** The text of each alert's section, by the alert. */
const sections = new Map(
  page
    .split(/^#{2,3} /m)
    .slice(1)
    .map((section): [string, string] => [section.split("\n", 1)[0] ?? "", section])
    .filter(([heading]) => heading.startsWith("Voxledger")),
);

interface Command {
  readonly name: string;
  readonly commands?: readonly Command[];
  readonly options?: readonly { readonly flags: string }[];
}
const program: Command = JSON.parse(readPage("test/golden/files/command-line.json"));

/** What the page tells operators to type, without what a command prints. */
const typed = [
  ...page.matchAll(/^ +(?:\$ )?((?:scripts\/)?voxledger .*)$/gm),
  ...page.matchAll(/`((?:scripts\/)?voxledger [^`]*)`/g),
].map(([, line = ""]) =>
  line
    .replace(/^scripts\//, "")
    .split(/\s+/)
    .slice(1),
);

/** Follows the words of a line through the commands, until an argument. */
const findCommand = (words: readonly string[]): Command | undefined => {
  let command = program;
  for (const word of words) {
    const next = command.commands?.find(({ name }) => name === word);
    if (!next) break;
    command = next;
  }
  return command === program || isGroup(command) ? undefined : command;
};

/** `audit` is a command, and has commands too. */
const isGroup = ({ name, commands }: Command): boolean => commands !== undefined && name !== "audit";

describe("the runbook", () => {
  it("has a section for each alert, and for no other", () => {
    expect([...sections.keys()].toSorted()).to.deep.equal(rules.map(({ alert }) => alert).toSorted());
  });

  for (const { alert, annotations } of rules) {
    it(`says what ${alert} means for clients, how to check it, what to do, and when it is over`, () => {
      const parts = [
        ...(sections.get(alert) ?? "").replaceAll("\n", " ").matchAll(/\*\*(\w[\w ]*)[.:]?\*\*/g),
      ];
      expect(parts.map(([, part]) => part)).to.deep.equal(["Symptom", "For clients", "Check", "Do", "Over"]);
    });

    it(`is where ${alert} links to, at an address that can be configured`, () => {
      expect(annotations.runbook_url).to.equal(
        `{{ with $externalLabels.runbook }}{{ . }}{{ else }}${path}{{ end }}#${alert.toLowerCase()}`,
      );
      expect(page, "in the index").to.include(
        `[${alert.slice("Voxledger".length)}](#${alert.toLowerCase()})`,
      );
    });
  }

  it("names only commands, options and scripts that exist", () => {
    expect(typed.length).to.be.greaterThan(10);
    for (const words of typed) {
      const command = findCommand(words);
      expect(command?.name, words.join(" ")).to.be.a("string");
      const flags = [...(command?.options ?? []), ...(program.options ?? [])].map((option) => option.flags);
      const known = flags.map((one) => one.split(/[\s,]+/).find((word) => word.startsWith("--")));
      expect(known).to.include.members(words.filter((word) => word.startsWith("--")));
    }
    for (const [, script = ""] of page.matchAll(/(?<![\w/])(scripts\/[\w-]+)/g))
      expect(existsSync(join(root, script)), script).to.equal(true);
  });

  it("names only metrics that exist", () => {
    const known = Object.values(metricDefinitions).map(prometheusName);
    const named = [...page.matchAll(/voxledger_\w+/g)].map(([name]) => name);
    expect(known).to.include.members(named);
  });
});
