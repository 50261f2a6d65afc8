import { Argument, type Command } from "commander";
import type { VoiceChoiceStatus } from "../../application/catalog/catalog.ts";
import type { SpeakingVoice } from "../../application/catalog/speaking-voices.ts";
import type { SampleCounts } from "../../application/gallery/speak-samples.ts";
import { type VoiceChoice, voiceChoices } from "../../domain/catalog/natural-voices.ts";
import { type VoiceLicence, voiceLicences } from "../../domain/catalog/voice-licences.ts";
import { fields, table } from "../columns.ts";
import { operator, print, printing, type Register, reading } from "../command.ts";

/**
 * Adds the command `voices`, which lists the speakers and their licences, and chooses between
 * natural and classic voices.
 */
export const registerVoicesCommands: Register = (program, { withServices, write }) => {
  const voices = program
    .command("voices")
    .description("list who speaks each voice on this machine, and what would make it better")
    .option("--licences", "list the licences of everything that speaks")
    .action(async function (this: typeof program, { licences }: { licences?: true }) {
      if (licences) {
        print(this, voiceLicences, licenceTable);
        return;
      }
      const found = await withServices(
        async ({ catalog }) => ({ ...(await catalog.choice()), speakers: await catalog.speakers() }),
        reading({ catalog: "all" }),
      );
      print(this, found, (status) => `${choiceText(status)}\n\n${speakerTable(status.speakers)}`);
    });

  voices
    .command("use")
    .description(
      "choose, for all instances, whether natural voices speak; default ones and those installed here",
    )
    .addArgument(new Argument("<choice>").choices(voiceChoices))
    .action(write(choiceText, ({ catalog }, choice: VoiceChoice) => catalog.choose(choice, operator)));
};

const choiceText = ({ choice, voices, missing, advice }: VoiceChoiceStatus): string =>
  fields({
    voices: choice,
    natural: voices.join(", ") || undefined,
    "not installed here": missing.join(", ") || undefined,
    advice,
  });

const speakerTable = (all: readonly SpeakingVoice[]): string =>
  table(
    ["voice", "language", "gender", "engine", "spoken by", "quality", "better"],
    all.map((one) => [
      ...[one.name, one.lang, one.gender, one.engine, one.voiceName, one.quality],
      one.better ?? "",
    ]),
    "There is no voice: the catalog is filled at the service's first start.",
  );

const licenceTable = (all: readonly VoiceLicence[]): string =>
  table(
    ["name", "licence", "voices", "text"],
    all.map(({ name, licence, voices, text }) => [name, licence, voices.join(", "), text]),
    "none",
  );

/** Speaks the samples of the gallery that the audio store lacks. */
export type SpeakSamplesNow = () => Promise<SampleCounts>;

/** Adds `samples` to the command `voices`. */
export const registerSampleCommands = (program: Command, speakSamples: SpeakSamplesNow): void => {
  const voices = program.commands.find((command) => command.name() === "voices") as Command;
  voices
    .command("samples")
    .description("speak the missing samples of /voices; a running service does so by itself when it is idle")
    .action(printing(samplesText, () => speakSamples()));
};

const samplesText = ({ voices, spoken, failed }: SampleCounts): string =>
  fields({
    voices: String(voices),
    spoken: String(spoken),
    ...Object.fromEntries(Object.entries(failed).map(([name, reason]) => [name, `failed: ${reason}`])),
  });
