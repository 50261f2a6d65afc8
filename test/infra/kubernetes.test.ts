import { expect } from "chai";
import { parse } from "yaml";
import { networksOf } from "../../src/engines/provider-http/addresses.ts";
import { settingNames } from "../../src/settings/read-settings.ts";
import { list, read, readYaml } from "./files.ts";

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly data?: Readonly<Record<string, string>>;
  readonly stringData?: Readonly<Record<string, string>>;
}

const files = list("kubernetes", ".yaml").filter((file) => !file.endsWith("kustomization.yaml"));
const manifests = new Map(files.map((file) => [file, readYaml(file) as Manifest]));
const ofKind = (kind: string): Manifest => {
  const found = manifests.values().find((one) => one.kind === kind);
  if (!found) throw new Error(`no manifest of kind ${kind}`);
  return found;
};

const deployment = () =>
  (ofKind("Deployment") as unknown as { spec: { template: { spec: PodSpec } } }).spec.template.spec;

interface Probe {
  readonly httpGet: { readonly path: string };
}
interface PodSpec {
  readonly terminationGracePeriodSeconds: number;
  readonly enableServiceLinks: boolean;
  readonly containers: readonly {
    readonly image: string;
    readonly env: readonly { readonly name: string; readonly value?: string }[];
    readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
    readonly startupProbe: Probe;
    readonly readinessProbe: Probe;
    readonly livenessProbe: Probe;
    readonly securityContext: object;
    readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  }[];
  readonly securityContext: object;
  readonly volumes: readonly { readonly name: string; readonly emptyDir?: object }[];
}

interface Overlay {
  readonly images: readonly { readonly name: string; readonly newTag: string }[];
  readonly patches: readonly { readonly target: { readonly kind: string }; readonly patch: string }[];
}
interface Operation {
  readonly op: string;
  readonly path: string;
}

interface NetworkPolicySpec {
  readonly ingress: readonly Rule[];
  readonly egress: readonly Rule[];
}
interface Rule {
  readonly from?: readonly object[];
  readonly to?: readonly {
    readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
  }[];
  readonly ports: readonly { readonly port: number | string }[];
}

interface IngressSpec {
  readonly rules: readonly {
    readonly http: { readonly paths: readonly { readonly path: string; readonly pathType: string }[] };
  }[];
}

describe("the Kubernetes manifests", () => {
  it("set a larger /dev/shm for the speech tools than the default of 64 MB", () => {
    const { containers, volumes } = deployment();
    const mount = containers[0]?.volumeMounts.find(({ mountPath }) => mountPath === "/dev/shm");
    const volume = volumes.find(({ name }) => name === mount?.name);
    expect(volume?.emptyDir).to.deep.equal({ medium: "Memory", sizeLimit: "256Mi" });
  });

  for (const [file, manifest] of manifests) {
    it(`conform to the Kubernetes API: ${file}`, async () => {
      const { apiVersion, kind } = manifest;
      const group = apiVersion.includes("/") ? apiVersion : `${apiVersion}`;
      const models = await import(`kubernetes-models/${group}/${kind}`);
      const model = new models[kind](manifest);
      expect(() => model.validate()).not.to.throw();
    });
  }

  it("are all applied by the kustomization except the example secret", () => {
    const { resources } = readYaml("kubernetes/kustomization.yaml") as { resources: string[] };
    const applied = resources.map((name) => `kubernetes/${name}`);
    expect(new Set([...applied, "kubernetes/secret.example.yaml"])).to.deep.equal(new Set(files));
  });

  it("set only settings that the service defines", () => {
    const given = [
      ...Object.keys(ofKind("ConfigMap").data ?? {}),
      ...Object.keys(ofKind("Secret").stringData ?? {}),
    ];
    const unknown = given.filter((name) => !settingNames.includes(name) && !name.startsWith("OTEL_"));
    expect(unknown).to.deep.equal([]);
  });

  it("keep secrets out of the ConfigMap", () => {
    const secrets = ["MASTER_KEY", "ADMIN_TOKEN", "AUDITOR_TOKEN", "EVENT_STORE", "AUDIO_STORE"];
    expect(Object.keys(ofKind("Secret").stringData ?? {})).to.have.members(secrets);
    expect(Object.keys(ofKind("ConfigMap").data ?? {})).not.to.include.members(secrets);
  });

  it("disable service links, which would add other services' addresses to the environment", () => {
    expect(deployment().enableServiceLinks).to.equal(false);
  });

  it("set a termination grace period longer than a pod's shutdown takes", () => {
    const { DRAIN_DELAY_SECONDS, DRAIN_SECONDS } = ofKind("ConfigMap").data ?? {};
    expect(deployment().terminationGracePeriodSeconds).to.be.above(
      Number(DRAIN_DELAY_SECONDS) + Number(DRAIN_SECONDS),
    );
  });

  it("refer in a container variable only to variables defined before it, as Kubernetes requires", () => {
    const defined = new Set<string>();
    for (const { name, value = "" } of deployment().containers[0]?.env ?? []) {
      for (const [, reference = ""] of value.matchAll(/\$\((\w+)\)/g)) expect(defined).to.include(reference);
      defined.add(name);
    }
    expect(defined).to.not.be.empty;
  });

  it("use only ingress paths that ingress-nginx accepts", () => {
    const { spec } = ofKind("Ingress") as unknown as { spec: IngressSpec };
    const paths = spec.rules.flatMap(({ http }) => http.paths);
    for (const { path, pathType } of paths.filter((one) => one.pathType !== "ImplementationSpecific"))
      expect(path, pathType).to.match(/^\/[A-Za-z0-9/_-]*$/);
  });

  it("lead every path of the description to the service except those of operators", () => {
    const { spec } = ofKind("Ingress") as unknown as { spec: IngressSpec };
    const rules = spec.rules.flatMap(({ http }) => http.paths);
    const isExposed = (path: string): boolean =>
      rules.some(({ path: rule, pathType }) =>
        pathType === "Prefix" ? path === rule || path.startsWith(`${rule}/`) : path === rule,
      );
    const described = [...read("../test/golden/files/openapi.txt").matchAll(/^[A-Z]+ (\/\S*) /gm)];
    const paths = [...new Set(described.map(([, path = ""]) => path))];
    expect(paths).to.include.members(["/", "/openai/v1/audio/speech", "/.well-known/voxledger-seal.pub"]);
    expect(paths.filter((path) => isExposed(path) === /^\/(admin|console)(\/|$)/.test(path))).to.deep.equal(
      [],
    );
  });

  it("allow PURGE to a cache in the cluster, and its requests", () => {
    const { ingress, egress } = (ofKind("NetworkPolicy") as unknown as { spec: NetworkPolicySpec }).spec;
    const varnish = [
      { namespaceSelector: {}, podSelector: { matchLabels: { "app.kubernetes.io/name": "varnish" } } },
    ];
    const portsOf = (rules: readonly Rule[], direction: "from" | "to") =>
      rules
        .filter((rule) => JSON.stringify(rule[direction]) === JSON.stringify(varnish))
        .flatMap(({ ports }) => ports.map(({ port }) => port));
    expect(portsOf(egress, "to")).to.deep.equal([80, 6_081, 8_080]);
    expect(portsOf(ingress, "from")).to.deep.equal(["http"]);
  });

  it("use separate endpoints for the liveness and readiness probes", () => {
    const [container] = deployment().containers;
    expect(container?.startupProbe.httpGet.path).to.equal("/health/live");
    expect(container?.livenessProbe.httpGet.path).to.equal("/health/live");
    expect(container?.readinessProbe.httpGet.path).to.equal("/health/ready");
  });

  it("run the pod unprivileged, without capabilities and with a read-only root file system", () => {
    const { securityContext, containers } = deployment();
    expect(securityContext).to.deep.include({
      runAsNonRoot: true,
      seccompProfile: { type: "RuntimeDefault" },
    });
    expect(containers[0]?.securityContext).to.deep.equal({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
  });

  it("allow egress to the configured servers and ingress to the service and metrics ports", () => {
    const { ingress, egress } = (ofKind("NetworkPolicy") as unknown as { spec: NetworkPolicySpec }).spec;
    const { EVENT_STORE = "", AUDIO_STORE = "" } = ofKind("Secret").stringData ?? {};
    const { OTEL_EXPORTER_OTLP_ENDPOINT = "", METRICS_PORT } = ofKind("ConfigMap").data ?? {};
    const wanted = [EVENT_STORE, AUDIO_STORE, OTEL_EXPORTER_OTLP_ENDPOINT].map((url) =>
      Number(/:(\d+)(?=[/?]|$)/.exec(url)?.[1]),
    );
    const open = egress.flatMap(({ ports }) => ports.map(({ port }) => port));
    expect(open).to.include.members([53, 443, ...wanted]);
    const named = deployment().containers[0]?.ports ?? [];
    expect(named.find(({ name }) => name === "metrics")?.containerPort).to.equal(Number(METRICS_PORT));
    expect(new Set(ingress.flatMap(({ ports }) => ports.map(({ port }) => port)))).to.deep.equal(
      new Set(named.map(({ name }) => name)),
    );
  });

  it("allow egress to any address but private networks and metadata services", () => {
    const { egress } = (ofKind("NetworkPolicy") as unknown as { spec: NetworkPolicySpec }).spec;
    const blocks = egress.flatMap(({ to = [] }) => to.flatMap(({ ipBlock }) => ipBlock ?? []));
    const wide = blocks.filter(({ cidr }) => !cidr.endsWith("/32"));
    expect(wide.map(({ cidr }) => cidr)).to.deep.equal(["0.0.0.0/0"]);
    const isExcepted = networksOf(wide[0]?.except ?? []);
    for (const address of [
      ...["10.0.0.7", "172.31.0.1", "192.168.1.1", "100.64.0.1", "169.254.169.254", "168.63.129.16"],
      ...["192.0.0.192", "198.18.0.1"],
    ])
      expect(isExcepted(address), address).to.equal(true);
    expect(isExcepted("93.184.216.34")).to.equal(false);
  });

  it("contain everything that the overlay in docs/operate/production.md patches", () => {
    const [, overlay = ""] =
      /```yaml\n(apiVersion: kustomize[^`]*)```/.exec(read("../docs/operate/production.md")) ?? [];
    const { images, patches } = parse(overlay) as Overlay;
    expect(images.map(({ name, newTag }) => `${name}:${newTag}`)).to.deep.equal([
      deployment().containers[0]?.image,
    ]);
    for (const { target, patch } of patches) {
      expect(patch, "kustomize parses a patch that begins with [ as JSON").not.to.match(/^\[/);
      for (const { op, path } of parse(patch) as Operation[]) {
        const steps = path.split("/").slice(1);
        const found = steps.reduce<unknown>((at, step) => Object(at)[step], ofKind(target.kind));
        expect(op === "replace" && found, path).to.be.a("string");
      }
    }
  });

  it("run the image that compose builds", () => {
    const { services } = readYaml("compose.yaml") as { services: Record<string, { image: string }> };
    expect(deployment().containers[0]?.image).to.equal(services["voxledger-1"]?.image);
  });
});
