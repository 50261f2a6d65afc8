import { mkdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import { hardSentences } from "../../test/listen/hard-sentences.ts";
import { harvardSentences } from "../../test/listen/harvard-sentences.ts";
import { type Credentials, registerWebsite } from "../../test/support/client.ts";
import { startInstance } from "../../test/support/instance.ts";
import { openListener } from "../../test/support/listening/listener.ts";
import { inTemporaryFolder } from "../bench/temporary-folder.ts";
import { heardWrongText, tableOf } from "./report.ts";
import { type Sentences, scoreVoice, shareOf, type VoiceScore } from "./scores.ts";

interface Options {
  readonly voice: readonly string[];
  readonly list: keyof typeof lists;
  readonly sentences?: string;
  readonly limit?: number;
  readonly atLeast: number;
  readonly url?: string;
  readonly key?: string;
  readonly voices: string;
  readonly checkout?: string;
  readonly audio: string;
  readonly json: boolean;
}

const defaultVoices = [
  "UK English Female",
  "UK English Male",
  "US English Female",
  "US English Male",
  "Scottish English Male",
  "g2-en-US-female",
  "g3-en-US-male",
];

const lists = {
  plain: { plain: harvardSentences, hard: [] },
  hard: { plain: [], hard: hardSentences },
  all: { plain: harvardSentences, hard: hardSentences },
} as const satisfies Record<string, Sentences>;

const number = (text: string): number => {
  if (!/^\d+(\.\d+)?$/.test(text)) throw new InvalidArgumentError("Expected a number.");
  return Number(text);
};

const program = new Command("scripts/listen")
  .description(
    [
      "Speaks sentences through the service, transcribes them with Whisper tiny.en, and prints for each voice how many are heard right.",
      "The plain ones are 30 Harvard sentences, with the word error rate and the predicted naturalness (DNSMOS P.808, 1 to 5).",
      `The hard ones are ${hardSentences.length} sentences with money, dates, times, units, signs and abbreviations. Each is also spoken in words, because the recogniser does not understand everything that is spoken well. "Right of these" is the share of the sentences right in words that is heard right as written, too. The exit code is 1 if it is below --at-least for a voice.`,
    ].join("\n\n"),
  )
  .option("--voice <name...>", "friendly voices, or system voices by name or voiceName", defaultVoices)
  .addOption(
    new Option("--voices <choice>", "what a service that is started speaks with")
      .choices(["natural", "classic"])
      .default("natural"),
  )
  .addOption(new Option("--list <name>", "which sentences").choices(Object.keys(lists)).default("all"))
  .option(
    "--sentences <file>",
    'instead of a list, a JSON file: {"plain": [text…], "hard": [[text, in words]…]}',
  )
  .option("--limit <number>", "only the first sentences of each list", number)
  .option("--at-least <percent>", "of the hard sentences that are heard right in words", number, 85)
  .option("--url <url>", "a running service; default: one that is started on a temporary folder")
  .option("--key <key>", "its API key; the secret is read from VOXLEDGER_API_SECRET")
  .option("--checkout <folder>", "starts the service of another working tree, to compare with it")
  .option("--audio <folder>", "for the audio of what is heard wrong", join(tmpdir(), "voxledger-listen"))
  .option("--json", "print JSON", false);

interface Service {
  readonly url: string;
  readonly credentials: Credentials;
}

const withService = async (options: Options, use: (service: Service) => Promise<void>): Promise<void> => {
  if (options.url !== undefined) {
    const { VOXLEDGER_API_SECRET: apiSecret } = process.env;
    if (options.key !== undefined && apiSecret !== undefined)
      return use({ url: options.url, credentials: { id: "", apiKey: options.key, apiSecret } });
    program.error("error: --url needs --key and the variable VOXLEDGER_API_SECRET");
  }
  await inTemporaryFolder(async (folder) => {
    const service = await startInstance(
      folder,
      { BURST_LIMIT: "1000000", VOICES: options.voices },
      options.checkout,
    );
    try {
      await use({ url: service.url, credentials: await registerWebsite(service.url) });
    } finally {
      await service.stop();
    }
  });
};

const sentencesOf = async ({ list, sentences, limit }: Options): Promise<Sentences> => {
  const { plain = [], hard = [] }: Partial<Sentences> =
    sentences === undefined ? lists[list] : JSON.parse(await readFile(sentences, "utf8"));
  return { plain: plain.slice(0, limit), hard: hard.slice(0, limit) };
};

const listen = async (options: Options): Promise<void> => {
  const sentences = await sentencesOf(options);
  await mkdir(options.audio, { recursive: true });
  const scores: VoiceScore[] = [];
  await withService(options, async (service) => {
    const listener = openListener({ ...service, folder: options.audio });
    for (const voice of options.voice) await listener.hear(voice, "Hello."); // an unknown voice fails at once
    for (const voice of options.voice) {
      const score = await scoreVoice(listener, voice, sentences);
      scores.push(score);
      if (!options.json) console.log(`${heardWrongText(score)}\n`);
    }
    await listener.close();
  });
  console.log(options.json ? JSON.stringify(scores, null, 2) : tableOf(scores));
  if (scores.some((score) => score.hard.rightInWords > 0 && shareOf(score) * 100 < options.atLeast))
    process.exitCode = 1;
};

await listen(program.parse().opts<Options>());
