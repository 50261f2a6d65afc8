import { execFile } from "node:child_process";
import type { Tool, ToolVersions } from "../tools.ts";

const questions: Readonly<Record<Tool, readonly [argument: string, answer: RegExp]>> = {
  "espeak-ng": ["--version", /text-to-speech: (\S+)/],
  // It answers, and exits with 1.
  flite: ["--version", /version: flite-(\S+)/],
  ffmpeg: ["-version", /^ffmpeg version (\S+)/],
};

/** Many times what it takes on a busy machine, and less than the start of the helper process may take. */
const deadlineMs = 15_000;

export const detectVersions = async (): Promise<ToolVersions> => {
  const tools = Object.keys(questions) as Tool[];
  const answers = await Promise.all(tools.map(async (tool) => [tool, await askVersion(tool)] as const));
  return Object.fromEntries(answers.filter(([, version]) => version !== undefined));
};

const askVersion = (tool: Tool): Promise<string | undefined> =>
  new Promise((resolve) => {
    const [argument, answer] = questions[tool];
    execFile(tool, [argument], { timeout: deadlineMs, killSignal: "SIGKILL" }, (_error, stdout) =>
      resolve(answer.exec(stdout)?.[1]),
    );
  });
