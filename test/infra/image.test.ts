import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { validate } from "dockerfile-utils";
import { read } from "./files.ts";

const dockerfile = read("docker/Dockerfile");
const root = join(import.meta.dirname, "../..");
const { devDependencies, scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

describe("the image", () => {
  it("is made by a Dockerfile with nothing to be said against", () => {
    expect(
      validate(dockerfile).map(({ message, range }) => `${range.start.line + 1}: ${message}`),
    ).to.deep.equal([]);
  });

  it("has the Node that the tests run on", () => {
    const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base);
    expect(new Set(bases)).to.deep.equal(new Set([`node:${devDependencies.node}-bookworm-slim`]));
  });

  it("runs as nobody in particular, ends on SIGTERM and tells whether it is ready", () => {
    expect(dockerfile)
      .to.match(/^USER node$/m)
      .and.to.match(/^STOPSIGNAL SIGTERM$/m)
      .and.to.match(/^HEALTHCHECK /m);
  });

  it("starts the service as npm and the quickstart do: by the script that holds Node's flags", () => {
    expect(dockerfile).to.match(/^CMD \["scripts\/node", "src\/main.ts"\]$/m);
    expect(scripts.start).to.equal("scripts/node src/main.ts");
    expect(readFileSync(join(root, "scripts/quickstart"), "utf8")).to.include(" scripts/node src/main.ts ");
  });

  it("keeps no data of the start that fills its compile cache", () => {
    const [, data] = /^RUN DATA_DIR=(\S+) .*\n.*&& rm -r \1 &&/m.exec(dockerfile) ?? [];
    expect(data).to.match(/^\/tmp\/./);
  });

  it("is given what it copies, and nothing else", () => {
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+)$/gm)].flatMap(([, files = ""]) =>
      files.split(" ").slice(0, -1),
    );
    const [all, ...given] = read("docker/Dockerfile.dockerignore").match(/^[^#\n].*$/gm) ?? [];
    expect(all).to.equal("*");
    expect(new Set(given.map((line) => line.slice(1)))).to.deep.equal(new Set(copied));
  });
});
