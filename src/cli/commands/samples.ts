import type { Command } from "commander";
import type { SampleCounts } from "../../application/gallery/speak-samples.ts";
import { printing } from "../command.ts";
import { fields } from "../layout.ts";

/** Speaks the samples of the gallery that the audio store lacks. */
export type SpeakSamplesNow = () => Promise<SampleCounts>;

/** Adds `voices samples`. */
export const registerSampleCommands = (program: Command, speakSamples: SpeakSamplesNow): void => {
  const voices =
    program.commands.find((command) => command.name() === "voices") ??
    program.command("voices").description("the voices of this installation");
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
