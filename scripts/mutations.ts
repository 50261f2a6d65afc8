/**
 * Runs Stryker on lines chosen by a seed. Usage: scripts/mutations [LINES] [SEED]. A line is chosen
 * by its text, so the same seed chooses the same lines after they have moved.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { longFiles } from "../test/support/sample.ts";

const scope = [
  "ledger",
  "domain/ledger",
  "application/synthesis",
  "application/access",
  "limits",
  "http/access",
];

type Mutant = {
  readonly mutatorName: string;
  readonly replacement: string;
  readonly status: string;
  readonly location: { readonly start: { readonly line: number } };
};
type Report = {
  readonly files: Record<string, { readonly source: string; readonly mutants: readonly Mutant[] }>;
};

const [stryker = "", lines = "200", seed = String(Date.now() % 1_000_000)] = process.argv.slice(2);
console.log(`${lines} lines, seed ${seed}`);

const isCode = (line: string) =>
  !/^\s*(\/?\*|\/\/|import |export (type|interface|\*)|type |readonly |[\])};,]*$)/.test(line);
const chosenLines = (): string[] => {
  const candidates = globSync(scope.map((folder) => `src/${folder}/**/*.ts`)).flatMap((file) =>
    readFileSync(file, "utf8")
      .split("\n")
      .flatMap((line, index) => {
        const digest = createHash("sha256").update(`${seed} ${line.trim()}`).digest("hex");
        return isCode(line) ? [{ digest, range: `${file}:${index + 1}-${index + 1}` }] : [];
      }),
  );
  return candidates
    .toSorted((a, b) => (a.digest < b.digest ? -1 : 1))
    .slice(0, Number(lines))
    .map(({ range }) => range);
};

const folder = mkdtempSync(join(tmpdir(), "mutations-"));
const reportFile = join(folder, "report.json");
const options = {
  plugins: [resolve(stryker, "node_modules/@stryker-mutator/mocha-runner/dist/src/index.js")],
  testRunner: "mocha",
  mochaOptions: {
    "no-package": true,
    config: ".mocharc.json",
    // Long tests do not run: a mutant that only they would notice needs a faster test.
    spec: globSync(scope.map((name) => `test/${name}/**/*.test.ts`)).filter(
      (file) => !longFiles.has(resolve(file)),
    ),
  },
  coverageAnalysis: "perTest",
  mutate: chosenLines(),
  mutator: { excludedMutations: ["StringLiteral", "ObjectLiteral", "Regex"] },
  ignoreStatic: true,
  concurrency: 1,
  dryRunTimeoutMinutes: 60,
  timeoutMS: 20_000,
  tempDirName: join(folder, "sandbox"),
  // Stryker would rewrite tsconfig.json, for which it needs TypeScript.
  ignorePatterns: [
    "*",
    ...["src/**", "test/**", "projections/**", "scripts/**", "docs/**", "infra/**"].map((name) => `!${name}`),
    "!*.json",
    "tsconfig.json",
  ],
  reporters: ["json", "progress-append-only"],
  jsonReporter: { fileName: reportFile },
  warnings: { slow: false },
};
try {
  const configuration = join(folder, "stryker.json");
  writeFileSync(configuration, JSON.stringify(options));
  const command = resolve(stryker, "node_modules/@stryker-mutator/core/bin/stryker.js");
  const { status } = spawnSync(process.execPath, [command, "run", configuration], { stdio: "inherit" });
  if (status !== 0) throw new Error(`Stryker has ended with ${status}.`);
  const { files } = JSON.parse(readFileSync(reportFile, "utf8")) as Report;
  const counts: Record<string, number> = {};
  for (const [file, { source, mutants }] of Object.entries(files)) {
    for (const { status, location, mutatorName, replacement } of mutants) {
      counts[status] = (counts[status] ?? 0) + 1;
      if (status === "Killed" || status === "Timeout" || status === "Ignored") continue;
      const line = source.split("\n")[location.start.line - 1]?.trim();
      console.log(`${status} ${file}:${location.start.line} ${mutatorName}\n  - ${line}\n  + ${replacement}`);
    }
  }
  console.log(counts);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
