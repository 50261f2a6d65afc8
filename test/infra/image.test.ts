import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { cp, mkdir, symlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { validate } from "dockerfile-utils";
import { temporaryFolder } from "../support/service.ts";
import { read } from "./files.ts";

const run = promisify(execFile);

const dockerfile = read("docker/Dockerfile");
const root = join(import.meta.dirname, "../..");
const { devDependencies, scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

describe("the container image", () => {
  it("is built from a Dockerfile without lint errors", () => {
    expect(
      validate(dockerfile).map(({ message, range }) => `${range.start.line + 1}: ${message}`),
    ).to.deep.equal([]);
  });

  it("uses the Node version that the tests run on", () => {
    const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base);
    expect(new Set(bases)).to.deep.equal(new Set([`node:${devDependencies.node}-bookworm-slim`]));
  });

  it("runs as an unprivileged user, stops on SIGTERM and has a health check", () => {
    expect(dockerfile)
      .to.match(/^USER node$/m)
      .and.to.match(/^STOPSIGNAL SIGTERM$/m)
      .and.to.match(/^HEALTHCHECK /m);
  });

  it("starts the service with scripts/node, as npm start and the quickstart do", () => {
    expect(dockerfile).to.match(/^CMD \["scripts\/node", "src\/main.ts"\]$/m);
    expect(scripts.start).to.equal("scripts/node src/main.ts");
    expect(readFileSync(join(root, "scripts/quickstart"), "utf8")).to.include(" scripts/node src/main.ts ");
  });

  it("removes the data of the run that fills its compile cache", () => {
    const [, data] = /^RUN DATA_DIR=(\S+) .*\n.*&& rm -r \1 &&/m.exec(dockerfile) ?? [];
    expect(data).to.match(/^\/tmp\/./);
  });

  it("contains the library of models only if it is asked for, in the version of the tests", () => {
    expect(dockerfile)
      .to.match(/^ARG NATURAL_VOICES=false$/m)
      .and.to.match(/^RUN if \[ "\$NATURAL_VOICES" = true \]; then scripts\/sherpa-onnx; fi$/m);
    expect(readFileSync(join(root, "scripts/sherpa-onnx"), "utf8")).to.include(
      'require("./package.json").devDependencies["sherpa-onnx-node"]',
    );
    expect(devDependencies["sherpa-onnx-node"]).to.match(/^\d+\.\d+\.\d+$/);
  });

  it("contains the natural voices, and of their runtime only the files that the service loads", () => {
    expect(dockerfile)
      .to.match(/^RUN scripts\/natural-voices$/m)
      .and.to.match(/^COPY --from=packages \/app\/voices voices$/m);
    const [, kept = ""] =
      /^RUN find node_modules\/onnxruntime-web\/dist -type f (.+) -delete$/m.exec(dockerfile) ?? [];
    const names = [...kept.matchAll(/! -name ([\w.-]+)/g)].map(([, name]) => name);
    const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => readFileSync(join(root, "src", file), "utf8"));
    const loaded = sources.flatMap((source) => source.match(/(?<=")onnxruntime-web\/[\w.-]+(?=")/g) ?? []);
    const files = loaded.map((name) => basename(fileURLToPath(import.meta.resolve(name))));
    expect(new Set(names)).to.deep.equal(new Set(files));
  });

  it("installs natural voices by the files alone that were copied before", async () => {
    const [before = ""] = dockerfile.split("\nRUN scripts/natural-voices\n");
    const copied = [...before.matchAll(/^COPY (?!--from)(.+)$/gm)].flatMap(([, files = ""]) =>
      files.split(" ").slice(0, -1),
    );
    const folder = await temporaryFolder();
    try {
      for (const file of copied) {
        await mkdir(dirname(join(folder.path, file)), { recursive: true });
        await cp(join(root, file), join(folder.path, file), { recursive: true });
      }
      await symlink(join(root, "node_modules"), join(folder.path, "node_modules"));
      const env = { PATH: process.env.PATH, NATURAL_VOICES_DIR: "none" };
      await run(join(folder.path, "scripts/natural-voices"), { env });
    } finally {
      await folder.remove();
    }
  });

  it("has a build context of exactly the files that the Dockerfile copies", () => {
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+)$/gm)].flatMap(([, files = ""]) =>
      files.split(" ").slice(0, -1),
    );
    const [all, ...included] = read("docker/Dockerfile.dockerignore").match(/^[^#\n].*$/gm) ?? [];
    expect(all).to.equal("*");
    expect(new Set(included.map((line) => line.slice(1)))).to.deep.equal(new Set(copied));
  });
});
