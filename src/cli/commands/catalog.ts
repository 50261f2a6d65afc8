import { InvalidArgumentError, Option } from "commander";
import { engineCodes, type SystemVoice, type Voice } from "../../domain/synthesis/speech.ts";
import { fields, table } from "../columns.ts";
import { operator, printing, type Register, writing } from "../command.ts";

interface VoiceOptions {
  readonly lang?: string;
  readonly flag?: string;
  readonly gender?: string;
  readonly systemVoice?: number[];
  readonly deprecated?: boolean;
}

export const registerVoiceCommands: Register = (program, { read, write }) => {
  const voice = program.command("voice").description("manage the voices of all websites");

  voice
    .command("list")
    .description("list voices, in the order in which they were added")
    .option("--lang <code>", "only voices with this language code")
    .action(
      read(voiceTable, { catalog: "all" }, ({ catalog }, { lang }: { lang?: string }) =>
        catalog.list().voices.filter((one) => lang === undefined || one.lang === lang),
      ),
    );

  voice
    .command("add <name>")
    .description("add a voice")
    .requiredOption("--lang <code>", "language, BCP-47")
    .requiredOption("--flag <country>", "country of the flag, two letters")
    .addOption(genderOption().makeOptionMandatory())
    .requiredOption("--system-voice <id...>", "ids of its system voices, in fallback order", ids)
    .action(
      write(voiceText, ({ catalog }, name: string, options: VoiceOptions) =>
        catalog.addVoice({ name, ...membersOf(options) }, operator),
      ),
    );

  voice
    .command("change <name>")
    .description("change members of a voice")
    .option("--lang <code>", "language, BCP-47")
    .option("--flag <country>", "country of the flag, two letters")
    .addOption(genderOption())
    .option("--system-voice <id...>", "ids of its system voices, in fallback order", ids)
    .option("--no-deprecated", "remove the deprecation")
    .action(
      write(voiceText, ({ catalog }, name: string, options: VoiceOptions) => {
        const change = { ...membersOf(options), ...(options.deprecated === false && { deprecated: false }) };
        return catalog.changeVoice(name, change, operator);
      }),
    );

  voice
    .command("deprecate <name>")
    .description("mark a voice as deprecated; it stays usable")
    .action(write(voiceText, ({ catalog }, name: string) => catalog.deprecateVoice(name, operator)));
};

export const registerSystemVoiceCommands: Register = (program, { withServices, read, write }) => {
  const systemVoice = program
    .command("system-voice")
    .description("manage system voices: those of engines, and native ones of browsers");

  systemVoice
    .command("list")
    .description("list system voices, by id")
    .action(read(systemVoiceTable, { catalog: "all" }, ({ catalog }) => catalog.list().systemVoices));

  systemVoice
    .command("add <name>")
    .description("add a system voice")
    .requiredOption("--lang <code>", "language, BCP-47")
    .addOption(genderOption())
    .addOption(
      new Option("--engine <code>", "the engine that speaks it; default: browsers").choices(engineCodes),
    )
    .option("--voice-name <name>", "the engine's name for the voice")
    .action(
      write(
        systemVoiceText,
        ({ catalog }, name: string, { engine: service, ...members }: { engine?: string }) =>
          catalog.addSystemVoice({ name, ...members, ...(service && { service }) }, operator),
      ),
    );

  systemVoice
    .command("deprecate <id>")
    .description("stop selecting a system voice by language alone")
    .action(
      printing(systemVoiceText, (given: string) => {
        const [id = 0] = ids(given);
        return withServices(({ catalog }) => catalog.deprecateSystemVoice(id, operator), writing);
      }),
    );
};

const genderOption = (): Option => new Option("--gender <gender>", "female or male").choices(["f", "m"]);

const ids = (value: string, before: number[] = []): number[] => {
  if (!/^[1-9]\d{0,8}$/.test(value)) throw new InvalidArgumentError("It must be the id of a system voice.");
  return [...before, Number(value)];
};

const membersOf = ({ lang, flag, gender, systemVoice }: VoiceOptions) => ({
  ...(lang !== undefined && { lang }),
  ...(flag !== undefined && { flag }),
  ...(gender !== undefined && { gender }),
  ...(systemVoice && { voiceIDs: systemVoice }),
});

const voiceTable = (all: readonly Voice[]): string =>
  table(
    ["name", "language", "gender", "flag", "system voices", "state"],
    all.map((one) => [one.name, one.lang, one.gender, one.flag, one.voiceIDs.join(" "), stateOf(one)]),
    "There is no voice.",
  );

const voiceText = (voice: Voice): string =>
  fields({
    voice: voice.name,
    language: voice.lang,
    gender: voice.gender,
    flag: voice.flag,
    "system voices": voice.voiceIDs.join(" "),
    state: stateOf(voice),
  });

const systemVoiceTable = (all: readonly SystemVoice[]): string =>
  table(
    ["id", "name", "language", "gender", "engine", "the engine's name", "state"],
    all.map((one) => [
      ...[String(one.id), one.name, one.lang ?? "", one.gender ?? "", one.service ?? "browsers"],
      ...[one.voiceName ?? "", stateOf(one)],
    ]),
    "There is no system voice.",
  );

const systemVoiceText = (one: SystemVoice): string =>
  fields({
    id: String(one.id),
    name: one.name,
    language: one.lang,
    gender: one.gender,
    engine: one.service ?? "browsers",
    "the engine's name": one.voiceName,
    state: stateOf(one),
  });

const stateOf = ({ deprecated }: { deprecated?: boolean }): string => (deprecated ? "deprecated" : "in use");
