/**
 * Compares espeak-ng's library with its command line: random voices, variants, prosody, texts and
 * SSML, interleaved over the library's processes. All audio must have the same bytes.
 * `scripts/node scripts/espeak-identity.ts [sounds] [seed]`
 */
import { createHash } from "node:crypto";
import { openSubprocessHost, type SubprocessHost } from "../src/subprocess/subprocess-host.ts";
import { collect } from "../test/support/collect.ts";

const never = new AbortController().signal;
const texts = [
  "Hello world, it's 12,345 tests. Dr. Smith said: no!",
  "L'été où j'ai vu l'île, aujourd'hui, c'était en 1999.",
  "Привет, мир! Это 25 тестов, не так ли?",
  "你好,世界。今天天气很好。",
  "नमस्ते दुनिया। यह एक परीक्षण है।",
  "مرحبا بالعالم. هذا اختبار.",
  "a",
  "…",
  "😀 C++ & 50% www.example.com 3.14159 XVII",
  `${"A sentence that goes on, and on. ".repeat(9)}`,
];
const documents = [
  "<speak>One <emphasis>two</emphasis><break time='300ms'/> w&amp;b</speak>",
  "<speak><prosody rate='60%' pitch='+3st' volume='soft'>slow</prosody> and <lang xml:lang='fr'>bonjour</lang></speak>",
  "<speak><p><s>First.</s><s>Second?</s></p><say-as interpret-as='characters'>abc</say-as></speak>",
];

/** Numbers from 0 to 1 that depend on the seed only. */
const randomNumbers = (seed: string) => {
  let drawn = 0;
  return (): number => {
    const digest = createHash("sha256").update(`${seed}:${drawn++}`).digest();
    return digest.readUInt32LE(0) / 2 ** 32;
  };
};

const list = async (host: SubprocessHost, option: string): Promise<string[]> => {
  const job = { tool: "espeak-ng", args: [option], output: "pipe", input: "" } as const;
  const table = Buffer.concat(await collect(host.run(job, never))).toString("utf8");
  const rows = table.split("\n").slice(1);
  return rows
    .map((row) => row.trim().split(/\s+/)[4] ?? "")
    .filter((file) => file !== "" && !file.startsWith("mb/"));
};

const compareAudio = async (
  count: number,
  seed: string,
): Promise<{ readonly different: number; readonly unstable: number }> => {
  const random = randomNumbers(seed);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const whole = (from: number, to: number): number => from + Math.floor(random() * (to - from + 1));
  const noEncoders = { mp3: 0, ogg: 0 };
  const library = await openSubprocessHost({ encodersAhead: noEncoders });
  const command = await openSubprocessHost({ encodersAhead: noEncoders, speakers: 0 });
  if (library.espeak !== "library") throw new Error("espeak-ng's library is not available");
  const voices = await list(library, "--voices");
  const variants = (await list(library, "--voices=variant")).map((file) => file.replace("!v/", "+"));
  /**
   * `unstable` counts jobs for which the command line itself makes different audio from run to run.
   * One of its runs made the same audio as the library.
   */
  const differences = { different: 0, unstable: 0 };
  const compareOne = async (index: number): Promise<void> => {
    const ssml = random() < 0.2;
    const job = {
      voice: pick(voices) + (random() < 0.5 ? pick(variants) : ""),
      rate: pick([175, 175, 80, 120, 260, 350]),
      pitch: whole(0, 99),
      volume: pick([100, 100, 4, 37]),
      ssml,
      input: pick(ssml ? documents : texts),
    };
    const speak = async (host: SubprocessHost): Promise<string> => {
      try {
        return createHash("sha256")
          .update(Buffer.concat(await collect(host.speak(job, never))))
          .digest("hex");
      } catch (error) {
        return error instanceof Error && "reason" in error ? String(error.reason) : String(error);
      }
    };
    const [ours, theirs] = await Promise.all([speak(library), speak(command)]);
    if (ours === theirs) return;
    const again = await Promise.all(Array.from({ length: 30 }, () => speak(command)));
    const isOneOfTheirs = again.includes(ours);
    differences[isOneOfTheirs ? "unstable" : "different"]++;
    console.log(JSON.stringify({ index, ...job, ours, theirs, isOneOfTheirs }));
  };
  try {
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < count) await compareOne(next++);
    };
    await Promise.all([worker(), worker(), worker()]);
  } finally {
    await Promise.all([library.close(), command.close()]);
  }
  return differences;
};

const [count = "3000", seed = "1"] = process.argv.slice(2);
const { different, unstable } = await compareAudio(Number(count), seed);
console.log(
  `${count} sounds, seed ${seed}: ${different} different; of ${unstable} the command line makes several, ours among them`,
);
process.exitCode = different > 0 ? 1 : 0;
