import { expect } from "chai";
import { type Metric, metricDefinitions, prometheusName } from "../../src/telemetry/metrics.ts";
import { read, readYaml } from "./files.ts";

const metrics: readonly Metric[] = Object.values(metricDefinitions);

/** Every series that Prometheus has of the service, with its labels. */
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
const ofEverything = ["job", "instance"];

const words = new Set(["and", "or", "unless", "by", "without", "on", "ignoring", "bool", "offset"]);

/** The series that an expression reads, with the labels that it picks them by; then the labels that it groups by. */
const readBy = (expression: string) => {
  const groupings = [...expression.matchAll(/\b(?:by|without)\s*\(([^)]*)\)/g)];
  const groups = groupings.flatMap(([, labels = ""]) => labels.split(",").map((label) => label.trim()));
  const bare = expression
    .replaceAll(/\b(?:by|without)\s*\([^)]*\)/g, " ")
    .replaceAll(/"(?:[^"\\]|\\.)*"/g, '""')
    .replaceAll(/\[[^\]]*\]/g, " ");
  const picked = [...bare.matchAll(/\b([a-zA-Z_:][\w:]*)\s*(\{[^}]*\})?(?!\s*\()(?![\w:])/g)]
    .filter(([whole]) => !words.has(whole.trim()))
    .map(([, name = "", matchers = ""]) => ({
      name,
      labels: [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = ""]) => label),
    }))
    .filter(({ name }) => !/^\d/.test(name));
  return { picked, groups };
};

const check = (expression: string): void => {
  const { picked, groups } = readBy(expression);
  expect(picked, expression).not.to.deep.equal([]);
  for (const { name, labels } of picked) {
    expect(series.has(name), `${name} in ${expression}`).to.equal(true);
    const known = [...(series.get(name) ?? []), ...ofEverything];
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
  groups: { rules: { alert: string; expr: string; annotations: { summary: string }; labels: object }[] }[];
};
const rules = groups.flatMap((group) => group.rules);

describe("what is shown and watched of the metrics", () => {
  for (const { title, targets = [] } of dashboard.panels.filter(({ type }) => type !== "row")) {
    it(`reads on the dashboard only what the service tells: ${title}`, () => {
      expect(targets).not.to.deep.equal([]);
      for (const { expr } of targets) check(expr);
    });
  }

  for (const { alert, expr, annotations, labels } of rules) {
    it(`is an alert that can come: ${alert}`, () => {
      check(expr);
      expect(annotations.summary).to.be.a("string");
      expect(labels).to.have.property("severity").that.is.oneOf(["warning", "critical"]);
    });
  }

  it("leaves no metric of the service's own unseen", () => {
    const seen = dashboard.panels.flatMap(({ targets = [] }) =>
      targets.flatMap(({ expr }) => readBy(expr).picked.map(({ name }) => name)),
    );
    const watched = new Set([
      ...seen,
      ...rules.flatMap(({ expr }) => readBy(expr).picked.map(({ name }) => name)),
    ]);
    const unseen = metrics
      .filter(({ name }) => name.startsWith("voxledger.") || name.startsWith("http."))
      .map(prometheusName)
      .filter((name) => ![name, `${name}_bucket`, `${name}_count`].some((one) => watched.has(one)));
    expect(unseen).to.deep.equal([]);
  });

  it("counts no balancer's looks at an instance's health among the requests", () => {
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

  it("has no panel upon another", () => {
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
    );
    expect(new Set(cells).size).to.equal(cells.length);
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).to.equal(dashboard.panels.length);
  });

  it("is scraped where the instances serve it", () => {
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

  it("finds what its other files name", () => {
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
