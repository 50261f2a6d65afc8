/**
 * Measures how many new sentences (100 characters, 16 at once) are spoken per second, as WAV and as
 * mp3. Alternates with a server that works like OpenTTS (quart-server.py), because OpenTTS itself
 * is not installed. That server sends WAV only, and neither keeps nor records anything. If the
 * argument is the checkout of another version of the service, with its dependencies installed,
 * alternates with that version, too. Standard error has the CPU time per sentence of each program.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { registerWebsite } from "../../test/support/client.ts";
import { freePort } from "../../test/support/free-port.ts";
import { startInstance } from "../../test/support/instance.ts";
import { cpuByProgram } from "./cpu-time.ts";
import { type Aim, figuresOf, perSecond } from "./side-by-side.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

const voice = "UK English Female";
const voiceOfEspeak = "gmw/en+f3";
const atOnce = 16;
/** The number of rounds. Each server gets 500 requests in all. */
const rounds = 5;
const perRound = 100;

const [checkout] = process.argv.slice(2);

let sentences = 0;
const newSentence = (): string =>
  `This is sentence number ${String(++sentences).padStart(5, "0")}, and the service has never received a request to speak it.`;

interface Subject {
  readonly name: string;
  readonly pid: number;
  /** Requests a new sentence, and reads its audio. */
  readonly speak: () => Promise<void>;
  /** Sentences per second, and milliseconds of CPU time per sentence, of each round. */
  readonly rates: number[];
  readonly cpu: number[];
  /** Milliseconds of CPU time in all rounds, by program. */
  readonly cpuOfPrograms: Map<string, number>;
}

const subject = (name: string, pid: number, speak: Subject["speak"]): Subject => ({
  ...{ name, pid, speak },
  ...{ rates: [], cpu: [], cpuOfPrograms: new Map() },
});

const agent = new Agent({ keepAlive: true });

const readAudio = async (url: string, headers: Record<string, string> = {}, body?: object): Promise<void> => {
  const sent = request(url, { method: body ? "POST" : "GET", agent, headers });
  sent.end(body && JSON.stringify(body));
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const { length } = await buffer(response);
  if (response.statusCode !== 200 || length < 10_000)
    throw new Error(`${url} was answered with ${response.statusCode} and ${length} bytes`);
};

const openService = async (folder: string, from?: string) => {
  const { url, pid, stop } = await startInstance(folder, { BURST_LIMIT: "1000000" }, from);
  const { apiKey, apiSecret } = await registerWebsite(url);
  const headers = { Authorization: `Bearer ${apiKey}.${apiSecret}`, "Content-Type": "application/json" };
  const inFormat = (format: "wav" | "mp3"): Subject =>
    subject(`${format}${from === undefined ? "" : " of another version"}`, pid, () => {
      const body = { model: "tts-1", voice, input: newSentence(), response_format: format };
      return readAudio(`${url}/openai/v1/audio/speech`, headers, body);
    });
  return { wav: inFormat("wav"), mp3: inFormat("mp3"), stop };
};

const openQuartServer = async () => {
  execFileSync("scripts/python-environment", ["quart-server", "quart==0.20.0", "hypercorn==0.18.0"]);
  const port = await freePort();
  const program = fileURLToPath(new URL("quart-server.py", import.meta.url));
  const child = spawn(".tools/quart-server/bin/python", [program, String(port)], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  await once(child.stderr, "data"); // hypercorn writes a line when it listens
  child.stderr.resume();
  const ended = once(child, "exit");
  const speak = (): Promise<void> => {
    const query = new URLSearchParams({ voice: voiceOfEspeak, text: newSentence() });
    return readAudio(`http://127.0.0.1:${port}/api/tts?${query}`);
  };
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended;
  };
  return { wav: subject("quart-server.py", child.pid ?? 0, speak), stop };
};

const round = async ({ pid, speak, rates, cpu, cpuOfPrograms }: Subject): Promise<void> => {
  const before = cpuByProgram(pid);
  let left = perRound;
  const ask = async (): Promise<void> => {
    while (left-- > 0) await speak();
  };
  const rate = await perSecond(perRound, async () => {
    await Promise.all(Array.from({ length: atOnce }, ask));
  });
  rates.push(rate);
  let sum = 0;
  for (const [program, after] of cpuByProgram(pid)) {
    const taken = after - (before.get(program) ?? 0);
    cpuOfPrograms.set(program, (cpuOfPrograms.get(program) ?? 0) + taken);
    sum += taken;
  }
  cpu.push(sum / perRound);
};

const compare = (name: string, ours: Subject, bare: Subject, aim: Aim): void => {
  const rates = { name, unit: "/s", aim };
  console.log(JSON.stringify(figuresOf(rates, { ours: ours.rates, bare: bare.rates })));
  const cpu = { name: `${name}: CPU time of all processes`, unit: "ms", aim: { atMost: 1 } };
  console.log(JSON.stringify(figuresOf(cpu, { ours: ours.cpu, bare: bare.cpu })));
};

const describeCpu = ({ name, cpuOfPrograms }: Subject): string =>
  `${name}: ${[...cpuOfPrograms].map(([program, ms]) => `${program} ${(ms / rounds / perRound).toFixed(1)} ms`).join(", ")}`;

await inTemporaryFolder(async (folder) => {
  const ours = await openService(join(folder, "ours"));
  const other = checkout === undefined ? undefined : await openService(join(folder, "other"), checkout);
  const quart = await openQuartServer();
  const subjects = [ours.wav, ours.mp3, quart.wav, ...(other ? [other.wav, other.mp3] : [])];
  try {
    for (const { speak } of subjects) for (let n = 0; n < 10; n++) await speak();
    for (let n = 0; n < rounds; n++) for (const one of subjects) await round(one);
    for (const one of subjects) console.error(describeCpu(one));
    const beside = (format: string, what: string) =>
      `cold sentences as ${format}, ${atOnce} at once, beside ${what}`;
    const quartName = "a server that works like OpenTTS";
    compare(beside("WAV", quartName), ours.wav, quart.wav, { atLeast: 1 });
    compare(beside("mp3", `WAV of ${quartName}`), ours.mp3, quart.wav, { atLeast: 0.8 });
    if (!other) return;
    compare(beside("WAV", "another version"), ours.wav, other.wav, { atLeast: 1 });
    compare(beside("mp3", "another version"), ours.mp3, other.mp3, { atLeast: 1 });
  } finally {
    await Promise.all([ours, quart, other].map((one) => one?.stop()));
  }
});
