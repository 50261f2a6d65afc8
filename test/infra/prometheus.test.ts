import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { PrometheusExporter } from "@opentelemetry/exporter-prometheus";
import { MeterProvider } from "@opentelemetry/sdk-metrics";
import { expect } from "chai";
import { stringify } from "yaml";
import { createInstruments } from "../../src/telemetry/instruments.ts";
import type { Metric } from "../../src/telemetry/metric-definition.ts";
import { type MetricKey, metricDefinitions } from "../../src/telemetry/metrics.ts";
import { prometheusText } from "../../src/telemetry/prometheus.ts";
import { duringSuite } from "../support/during.ts";
import { readYaml } from "./files.ts";

const root = join(import.meta.dirname, "../..");
const tool = (name: string): string => join(root, ".tools/bin", name);

/** Rejects with the output of a command that fails. */
const run = (name: string, args: readonly string[], env: Record<string, string> = {}) =>
  promisify(execFile)(name, args, { env: { PATH: process.env.PATH, ...env } });

const openFolder = async () => {
  const path = await mkdtemp(join(tmpdir(), "voxledger-prometheus-"));
  return { path, close: () => rm(path, { recursive: true }) };
};

/** One sample of each metric in Prometheus' text format. */
const sampleOfEach = async (): Promise<string> => {
  const exporter = new PrometheusExporter({ preventServerStart: true });
  const instruments = createInstruments(new MeterProvider({ readers: [exporter] }).getMeter("test"));
  for (const [key, { kind }] of Object.entries<Metric>(metricDefinitions)) {
    if (kind === "histogram") instruments.histogram(key as "requests")(1);
    else instruments.observe(key as Extract<MetricKey, "starting">, (observe) => observe(1));
  }
  return prometheusText((await exporter.collect()).resourceMetrics);
};

const isInstalled = existsSync(tool("promtool")) && existsSync(tool("amtool"));
const why = isInstalled ? "" : " (skipped: scripts/prometheus-tools could not install promtool and amtool)";

describe(`Prometheus and Alertmanager${why}`, () => {
  const folder = duringSuite(openFolder);

  before(function () {
    if (!isInstalled) this.skip();
  });

  it("accept the configuration and the alerts of infra/", async () => {
    const checked = await run(tool("promtool"), [
      "check",
      "config",
      join(root, "infra/prometheus/prometheus.yml"),
    ]);
    expect(checked.stdout).to.match(/SUCCESS: \d+ rules found/);
  });

  it("accept the alerts that Kubernetes gives to the operator", async () => {
    const { spec } = readYaml("prometheus-operator/prometheus-rule.yaml") as { readonly spec: object };
    const file = join(folder.path, "rules.yml");
    await writeFile(file, stringify(spec));
    expect((await run(tool("promtool"), ["check", "rules", file])).stdout).to.match(
      /SUCCESS: \d+ rules found/,
    );
  });

  it("fire the alerts of each scenario, and no others", async () => {
    const tested = await run(tool("promtool"), ["test", "rules", join(import.meta.dirname, "alerts.yaml")]);
    expect(tested.stdout).to.include("SUCCESS");
  });

  for (const [what, receivers] of [
    ["no receiver", {}],
    [
      "every receiver",
      {
        ALERT_WEBHOOK_URL: "https://hooks.example/it's?a=b",
        ALERT_SLACK_URL: "https://hooks.slack.example/T1",
        ALERT_EMAIL: "ops@example.com",
        ALERT_SMTP_HOST: "mail.example:587",
        ALERT_SMTP_USER: "ops",
        ALERT_SMTP_PASSWORD: "p'$x\\",
      },
    ],
  ] as const) {
    it(`accept the configuration that alertmanager/start writes: ${what}`, async () => {
      const program = join(folder.path, "alertmanager");
      await writeFile(
        program,
        `#!/bin/sh\nexec "${tool("amtool")}" check-config "$(echo "$1" | cut -d= -f2)"\n`,
      );
      await chmod(program, 0o755);
      const env = { ...receivers, PATH: `${folder.path}:${process.env.PATH}`, TMPDIR: folder.path };
      const { stdout } = await run("sh", [join(root, "infra/alertmanager/start")], env);
      expect(stdout).to.include("SUCCESS").and.include("1 receivers");
    });
  }

  it("find no fault with the names, the types and the help texts of the metrics", async () => {
    const metrics = join(folder.path, "metrics");
    await writeFile(metrics, await sampleOfEach());
    await run("sh", ["-c", `"${tool("promtool")}" check metrics <"${metrics}"`]);
  });
});
