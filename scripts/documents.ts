import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { type LimitRow, limits } from "../src/limits/limits.ts";
import { settingGroups } from "../src/settings/settings.ts";

/*
 * Writes what documents and deployments say about settings, from the settings' schemas, and about
 * limits, from their table: docs/operate/settings.md, and the parts of docs/limits.md,
 * infra/env.example and infra/compose.yaml between markers. Writes Prometheus' alerts as a resource
 * of Kubernetes, too.
 */

const root = join(import.meta.dirname, "..");
const readText = (path: string): string => readFileSync(join(root, path), "utf8");

interface Setting {
  readonly name: string;
  readonly description: string;
  /** The default as the environment would have it; empty if there is none. */
  readonly value: string;
  /** What applies if the setting has no value. */
  readonly fallback: string;
  /** A valid value, for settings without a default. */
  readonly example: string;
}

const settingMeta = z.object({
  description: z.string(),
  fallback: z.string().default(""),
  example: z.string().default(""),
});

const describe = (name: string, schema: z.ZodType): Setting[] => {
  const { data: meta } = settingMeta.safeParse(schema.meta());
  if (!meta) return []; // a variable that the service refuses, such as OTEL_CONFIG_FILE
  const { data } = schema.safeParse(undefined);
  const value = typeof data === "string" || typeof data === "number" ? String(data) : "";
  return [{ name, ...meta, value }];
};

/** The documented settings by the title of their group. */
const groups: ReadonlyMap<string, readonly Setting[]> = new Map(
  Object.entries(settingGroups).map(([title, settings]) => [
    title,
    Object.entries(settings).flatMap(([name, schema]) => describe(name, schema)),
  ]),
);

const settingsPage = (): string => {
  const rows = (settings: readonly Setting[]): string[] =>
    settings.map(({ name, value, fallback, description }) => {
      const shown = value === "" ? fallback : `\`${value}\``;
      return `| \`${name}\` | ${shown} | ${description.replaceAll("|", "\\|")} |`;
    });
  const sections = [...groups].map(([title, settings]) =>
    [`## ${title}\n`, "| Name | Default | Meaning |", "|---|---|---|", ...rows(settings), ""].join("\n"),
  );
  return [settingsIntroduction, ...sections].join("\n");
};

const settingsIntroduction = `# Settings

<!-- Written by scripts/documents from src/settings/settings.ts. -->

Settings are environment variables. They are read and checked once, at the start.

- An invalid value ends the process with one line that names the setting.
- An unknown variable that resembles a setting (\`EVENTSTORE\`, \`VOXLEDGER_MASTER_KEY\`) ends it too.
- An empty value counts as no value.
`;

/** Lines of at most 100 columns that begin with `# `, without links to other pages. */
const toComment = (markdown: string): string => {
  const text = markdown
    .replace(/(\. See|: see) \[[^\]]*\]\([^)]*\)\.$/, ".")
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll("`", "");
  const lines = text.match(/\S.{0,96}\S(?=\s|$)|\S+/g) ?? [];
  return lines.map((line) => `# ${line}\n`).join("");
};

/** @throws if the text does not have both markers */
const replaceBetweenMarkers = (text: string, content: string): string => {
  const markers =
    /^(.*begin: written by scripts\/documents[^\n]*\n).*?([^\n]*end: written by scripts\/documents.*)$/s;
  const parts = markers.exec(text);
  if (!parts) throw new Error("the markers are missing");
  return `${parts[1]}${content}${parts[2]}`;
};

const outsideOfMarkers = (text: string): string => replaceBetweenMarkers(text, "");

/** Settings that compose.yaml neither fixes nor gives a default of its own. */
const passedByCompose = (): ReadonlyMap<string, readonly Setting[]> => {
  const own = outsideOfMarkers(readText("infra/compose.yaml"));
  const isPassed = ({ name }: Setting): boolean =>
    !name.startsWith("OTEL_") && !new RegExp(`^ +${name}: `, "m").test(own);
  return new Map([...groups].map(([title, settings]) => [title, settings.filter(isPassed)]));
};

const compose = (): string => {
  const names = [...passedByCompose().values()].flat().map(({ name }) => `  ${name}: \${${name}:-}\n`);
  return replaceBetweenMarkers(readText("infra/compose.yaml"), names.join(""));
};

const envExample = (): string => {
  const sections = [...passedByCompose()]
    .filter(([, settings]) => settings.length > 0)
    .map(([title, settings]) => {
      const entries = settings.map(
        ({ name, description, value, example }) => `${toComment(description)}# ${name}=${value || example}\n`,
      );
      return `\n# --- ${title}\n\n${entries.join("\n")}`;
    });
  return replaceBetweenMarkers(readText("infra/env.example"), sections.join(""));
};

const limitsPage = (): string => {
  const rows = Object.values<LimitRow>(limits).map(({ of, counts, atMost, beyond }) => {
    const most = typeof atMost === "number" ? atMost.toLocaleString("en") : atMost;
    const shown = /^[A-Z_]+$/.test(most) ? `\`${most}\`` : most;
    return `| ${of} | ${counts} | ${shown} | ${typeof beyond === "string" ? beyond : `429 \`${beyond.code}\``} |\n`;
  });
  const table = [
    "| For each | What is limited | Limit | Response beyond it |\n",
    "|---|---|---|---|\n",
    ...rows,
  ];
  return replaceBetweenMarkers(readText("docs/limits.md"), table.join(""));
};

const prometheusRule = (): string => `# Written by scripts/documents from infra/prometheus/rules.yml.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: { name: voxledger }
spec:
${readText("infra/prometheus/rules.yml").replace(/^(?=.)/gm, "  ")}`;

/** The generated files by path. */
export const documents = (): ReadonlyMap<string, string> =>
  new Map([
    ["docs/operate/settings.md", settingsPage()],
    ["docs/limits.md", limitsPage()],
    ["infra/compose.yaml", compose()],
    ["infra/env.example", envExample()],
    ["infra/prometheus-operator/prometheus-rule.yaml", prometheusRule()],
  ]);

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  for (const [path, text] of documents()) writeFileSync(join(root, path), text);
}
