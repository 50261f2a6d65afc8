/**
 * Runs every benchmark sequentially, passes on its output, and prints a table at the end. With
 * `--aims` it then lists the aims that were missed, and exits with 1 if there are any.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpus, loadavg } from "node:os";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type Figures, meetsAim, missedAims } from "./side-by-side.ts";

const benches = [
  "commands.ts",
  "cold-request.ts",
  "cached-get.ts",
  "first-byte.ts",
  "first-byte-of-long-texts.ts",
  "first-audio.ts",
  "telemetry.ts",
  "stalled-listeners.ts",
  "memory.ts",
  "memory-of-long-texts.ts",
  "public-audio.ts",
  "crowded-speech.ts",
  "distant-instance.ts",
  "report-beside-servings.ts",
];

const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

const run = async (bench: string): Promise<Figures[]> => {
  const child = spawn(process.execPath, [...process.execArgv, pathOf(bench)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const figures: Figures[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    console.log(line);
    figures.push(JSON.parse(line));
  }
  const [code] = await ended;
  if (code !== 0) throw new Error(`${bench} ended with ${code}`);
  return figures;
};

const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

const table = (all: readonly Figures[]): string =>
  [
    row(["", "ours", "bare", "ratio", "aim", ""]),
    row(["---", "---:", "---:", "---:", "---:", "---"]),
    ...all.map((one) => {
      const [ours, bare] = [one.ours, one.bare].map((figure) => `${figure.toLocaleString("en")} ${one.unit}`);
      return row([
        one.name,
        ours ?? "",
        bare ?? "",
        String(one.ratio),
        one.aim,
        meetsAim(one) ? "met" : "missed",
      ]);
    }),
  ].join("\n");

const machine = (): string => {
  const [load = 0] = loadavg();
  const [cpu] = cpus();
  return `${cpus().length} × ${cpu?.model.trim()}, Node ${process.version}, load before the start ${load.toFixed(2)}`;
};

execFileSync(pathOf("setup"), { stdio: "inherit" });
const where = machine();
const all: Figures[] = [];
for (const bench of benches) all.push(...(await run(bench)));
console.log(`\n${table(all)}\n\n${where}`);
if (process.argv.includes("--aims")) {
  const missed = missedAims(all);
  for (const one of missed) console.error(`missed: ${one}`);
  if (missed.length > 0) process.exitCode = 1;
}
