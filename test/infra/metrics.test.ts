import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { type Metric, prometheusName } from "../../src/telemetry/metric-definition.ts";
import { metricDefinitions } from "../../src/telemetry/metrics.ts";
import { list, read, readYaml } from "./files.ts";

const metrics: readonly Metric[] = Object.values(metricDefinitions);

/** Every Prometheus series of the service, with its labels. */
const series = new Map<string, readonly string[]>(
  metrics.flatMap((metric) => {
    const name = prometheusName(metric);
    const labels = (metric.attributes ?? []).map((attribute) => attribute.replaceAll(".", "_"));
    if (metric.kind !== "histogram") return [[name, labels]];
    return [
      [`${name}_bucket`, [...labels, "le"]],
      [`${name}_sum`, labels],
      [`${name}_count`, labels],
    ];
  }),
);
series.set("up", []);
const targetLabels = ["job", "instance"];

const keywords = new Set(["and", "or", "unless", "by", "without", "on", "ignoring", "bool", "offset"]);

/**
 * The series that a PromQL expression selects, with the labels in their matchers, and the labels
 * that it groups by.
 */
const parseExpression = (expression: string) => {
  const groupings = [...expression.matchAll(/\b(?:by|without)\s*\(([^)]*)\)/g)];
  const groups = groupings.flatMap(([, labels = ""]) => labels.split(",").map((label) => label.trim()));
  const bare = expression
    .replaceAll(/\b(?:by|without)\s*\([^)]*\)/g, " ")
    .replaceAll(/"(?:[^"\\]|\\.)*"/g, '""')
    .replaceAll(/\[[^\]]*\]/g, " ");
  const selected = [...bare.matchAll(/\b([a-zA-Z_:][\w:]*)\s*(\{[^}]*\})?(?!\s*\()(?![\w:])/g)]
    .filter(([whole]) => !keywords.has(whole.trim()))
    .map(([, name = "", matchers = ""]) => ({
      name,
      labels: [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = ""]) => label),
    }))
    .filter(({ name }) => !/^\d/.test(name));
  return { selected, groups };
};

const check = (expression: string): void => {
  const { selected, groups } = parseExpression(expression);
  expect(selected, expression).not.to.deep.equal([]);
  for (const { name, labels } of selected) {
    expect(series.has(name), `${name} in ${expression}`).to.equal(true);
    const known = [...(series.get(name) ?? []), ...targetLabels];
    expect(known, expression).to.include.members([...labels, ...groups]);
  }
};

interface Panel {
  readonly type: string;
  readonly title: string;
  readonly id: number;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}
const dashboard = JSON.parse(read("grafana/dashboards/voxledger.json")) as { panels: readonly Panel[] };
const { groups } = readYaml("prometheus/rules.yml") as {
  groups: {
    rules: { alert: string; expr: string; annotations: { summary: string }; labels: { severity: string } }[];
  }[];
};
const rules = groups.flatMap((group) => group.rules);

describe("the Prometheus and Grafana configuration", () => {
  for (const { title, targets = [] } of dashboard.panels.filter(({ type }) => type !== "row")) {
    it(`has a dashboard panel that uses only existing metrics and labels: ${title}`, () => {
      expect(targets).not.to.deep.equal([]);
      for (const { expr } of targets) check(expr);
    });
  }

  for (const { alert, expr, annotations, labels } of rules) {
    it(`has an alert on existing metrics and labels with a summary and a severity: ${alert}`, () => {
      check(expr);
      expect(annotations.summary).to.be.a("string");
      expect(labels).to.have.property("severity").that.is.oneOf(["warning", "critical"]);
    });
  }

  it("calls a dependency critical exactly if health does, because nothing is served without it", () => {
    const bootstrap = join(import.meta.dirname, "../../src/bootstrap");
    const sources = [
      "health.ts",
      ...readdirSync(join(bootstrap, "speech")).map((file) => `speech/${file}`),
    ].map((file) => readFileSync(join(bootstrap, file), "utf8"));
    const critical = sources.flatMap((source) =>
      [...source.matchAll(/name: "(\w+)",\s*critical: true/g)].map(([, name]) => name),
    );
    const exprOf = (alert: string) => rules.find((rule) => rule.alert === alert)?.expr;
    const names = critical.join("|");
    expect(exprOf("VoxledgerDependencyDown")).to.equal(
      `voxledger_dependency_up{dependency=~"${names}"} == 0`,
    );
    expect(exprOf("VoxledgerDependencyDegraded")).to.equal(
      `voxledger_dependency_up{dependency!~"${names}"} == 0`,
    );
  });

  it("wakes somebody only if clients are refused or soon will be, or records are at risk", () => {
    const critical = rules.filter(({ labels }) => labels.severity === "critical");
    expect(critical.map(({ alert }) => alert.slice("Voxledger".length))).to.deep.equal([
      ...["InstanceDown", "LogReplaced", "StartSlow", "Failing", "DependencyDown", "DiskFull"],
    ]);
  });

  it("uses each of the service's metrics in a panel or an alert", () => {
    const inPanels = dashboard.panels.flatMap(({ targets = [] }) =>
      targets.flatMap(({ expr }) => parseExpression(expr).selected.map(({ name }) => name)),
    );
    const used = new Set([
      ...inPanels,
      ...rules.flatMap(({ expr }) => parseExpression(expr).selected.map(({ name }) => name)),
    ]);
    const unused = metrics
      .filter(({ name }) => name.startsWith("voxledger.") || name.startsWith("http."))
      .map(prometheusName)
      .filter((name) => ![name, `${name}_bucket`, `${name}_count`].some((one) => used.has(one)));
    expect(unused).to.deep.equal([]);
  });

  it("calls no job stuck that may be busy until its client has read the audio", () => {
    const stuck = rules.find(({ alert }) => alert === "VoxledgerJobStuck");
    expect(stuck?.expr).to.include('{queue!~"encoders|decoders|syntheses"}');
  });

  it("excludes health checks from all request metrics", () => {
    const expressions = [
      ...dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
      ...rules.map(({ expr }) => expr),
    ];
    const counted = expressions.filter((expr) => expr.includes("http_server_request_duration_seconds"));
    expect(counted).not.to.deep.equal([]);
    for (const expr of counted)
      for (const [read] of expr.matchAll(/http_server_request_duration_seconds_\w+(\{[^}]*\})?/g))
        expect(read).to.match(/http_route(!~"\/health\.\*"|="\/v2\/)/);
  });

  it("has dashboard panels with unique ids that do not overlap", () => {
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
    );
    expect(new Set(cells).size).to.equal(cells.length);
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).to.equal(dashboard.panels.length);
  });

  it("scrapes the metrics port of every instance", () => {
    const { services } = readYaml("compose.yaml") as {
      services: Record<string, { environment?: Record<string, string> }>;
    };
    const { scrape_configs } = readYaml("prometheus/prometheus.yml") as {
      scrape_configs: { job_name: string; static_configs: { targets: string[] }[] }[];
    };
    const targets = scrape_configs.find(({ job_name }) => job_name === "voxledger")?.static_configs[0]
      ?.targets;
    const instances = Object.entries(services).filter(([, { environment }]) => environment?.METRICS_PORT);
    expect(targets).to.deep.equal(instances.map(([name, one]) => `${name}:${one.environment?.METRICS_PORT}`));
  });

  it("sends alerts to the Alertmanager of compose.yaml", () => {
    const { alerting } = readYaml("prometheus/prometheus.yml") as {
      alerting: { alertmanagers: { static_configs: { targets: string[] }[] }[] };
    };
    const targets = alerting.alertmanagers.flatMap(({ static_configs: [first] }) => first?.targets);
    expect(targets).to.deep.equal(["alertmanager:9093"]);
    expect((readYaml("compose.yaml") as { services: object }).services).to.have.property("alertmanager");
  });

  it("gives the rules the address of the runbook, which is no label of the alerts that are sent", () => {
    const { global, alerting } = readYaml("prometheus/prometheus.yml") as {
      global: { external_labels: Record<string, string> };
      alerting: { alert_relabel_configs: object[] };
    };
    expect(Object.keys(global.external_labels)).to.deep.equal(["runbook"]);
    expect(global.external_labels.runbook).to.match(/^\$\{RUNBOOK_URL\}$/);
    expect(alerting.alert_relabel_configs).to.deep.equal([{ action: "labeldrop", regex: "runbook" }]);
    const { services } = readYaml("compose.yaml") as {
      services: { prometheus: { environment: Record<string, string> } };
    };
    expect(services.prometheus.environment.RUNBOOK_URL).to.match(/^\$\{RUNBOOK_URL:-\}$/);
  });

  it("has the same alerts for the Prometheus operator, whose pods have the job of the rules", () => {
    const rule = readYaml("prometheus-operator/prometheus-rule.yaml") as { kind: string; spec: object };
    expect(rule).to.include({ kind: "PrometheusRule" });
    expect(rule.spec).to.deep.equal({ groups });
    const monitor = read("prometheus-operator/pod-monitor.yaml");
    for (const [, job] of read("prometheus/rules.yml").matchAll(/job="(\w+)"/g))
      expect(monitor).to.include(`{ targetLabel: job, replacement: ${job} }`);
    const { resources } = readYaml("prometheus-operator/kustomization.yaml") as { resources: string[] };
    const files = list("prometheus-operator", ".yaml").filter((file) => !file.endsWith("kustomization.yaml"));
    expect(resources.map((name) => `prometheus-operator/${name}`)).to.have.members(files);
  });

  it("refers only to collector components that are configured, and provisions Grafana", () => {
    const collector = readYaml("otel-collector/config.yaml") as {
      [section: string]: object;
      service: { extensions: string[]; pipelines: Record<string, Record<string, string[]>> } & object;
    };
    for (const pipeline of Object.values(collector.service.pipelines)) {
      for (const [section, names] of Object.entries(pipeline)) {
        expect(Object.keys(collector[section] ?? {})).to.include.members(names);
      }
    }
    expect(Object.keys(collector.extensions ?? {})).to.include.members(collector.service.extensions);
    const source = readYaml("grafana/provisioning/datasources/prometheus.yaml") as { datasources: object[] };
    expect(source.datasources).to.have.length(1);
    expect(readYaml("grafana/provisioning/dashboards/voxledger.yaml")).to.have.property("providers");
  });
});
