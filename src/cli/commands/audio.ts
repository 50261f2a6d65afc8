import type { Command } from "commander";
import type { AudioDetails, AudioList, AudioReports } from "../../application/audio/audio-reports.ts";
import type { ServingsRequest } from "../../application/audio/audio-servings.ts";
import type { DeletedAudio } from "../../application/audio/delete-audio.ts";
import { count, fields, table } from "../columns.ts";
import { operator, type Register, type WithArchives, withArchives } from "../command.ts";
import { wholeNumber } from "../plan-options.ts";

type Period = Pick<ServingsRequest, "from" | "to"> & WithArchives;

/** Nothing interrupts a command but the end of its process. */
const { signal } = new AbortController();

const withPeriod = (command: Command): Command =>
  withArchives(command)
    .option("--from <time>", "served at this date or time (UTC) or later; default: 31 days before --to")
    .option("--to <time>", "served before this date or time (UTC); default: now");

export const registerAudioCommands: Register = (program, { read, write }) => {
  const audio = program.command("audio").description("manage stored audio");

  withPeriod(audio.command("list"))
    .description("list the most served sounds of at most 31 days")
    .option("--limit <number>", "how many", wholeNumber, 25)
    .action(
      read(
        listText,
        ({ archive }: Period & { limit: number }) => ({ archives: archive }),
        ({ audioReports }, { archive, ...options }: Period & { limit: number }) =>
          audioReports.list({ ...options, signal }),
      ),
    );

  withPeriod(audio.command("show <hash>"))
    .description("show a sound's objects in the store, none after a deletion, and how often it was served")
    .action(
      read(
        detailsText,
        (_: string, { archive }: Period) => ({ archives: archive }),
        ({ audioReports }, hash: string, { archive, ...period }: Period) =>
          audioReports.find(hash, { ...period, signal }),
      ),
    );

  audio
    .command("purge <hash>")
    .description("make the CDN forget a sound, which stays in the store")
    .action(read(purgedText, {}, ({ audioReports }, hash: string) => audioReports.purge(hash)));

  audio
    .command("delete <hash>")
    .description(
      "delete audio and what belongs to it; the same request makes free audio again, and buys audio of a website's own provider again",
    )
    .action(write(deletedText, ({ deleteAudio }, hash: string) => deleteAudio(hash, operator)));
};

const listText = ({ sounds, served, fromCache, distinct, isComplete }: AudioList): string => {
  const totals = `${count(distinct)} sounds${isComplete ? "" : " were counted"}, served ${count(served)} times, ${count(fromCache)} of them from cache.`;
  const rows = sounds.map(({ hash, engine, voice, served, bytes }) => [
    hash,
    engine,
    voice,
    count(served),
    bytes === undefined ? "not stored" : count(bytes),
  ]);
  return `${table(["hash", "engine", "voice", "served", "bytes"], rows, "No sound was served.")}\n\n${totals}`;
};

const detailsText = ({ hash, servings, objects }: AudioDetails): string => {
  const head = fields({
    hash,
    ...(servings && {
      engine: servings.engine,
      voice: servings.voice,
      language: servings.lang,
      format: servings.format,
      first: servings.firstAt,
      last: servings.lastAt,
    }),
    served: servings
      ? `${count(servings.served)} times, ${count(servings.from.miss)} of them synthesized`
      : "not in the period",
    characters: servings && count(servings.characters),
  });
  const files = objects.map(({ name, bytes, seconds, usedAt }) => [
    name,
    count(bytes),
    seconds?.toFixed(3) ?? "",
    usedAt,
  ]);
  return `${head}\n\n${table(["object", "bytes", "seconds", "used"], files, "The store has no object of it.")}`;
};

const cdnText = (purged: boolean): string =>
  purged ? "The CDN was purged." : "No CDN is configured (PURGE_URL).";

const purgedText = ({ purged }: Awaited<ReturnType<AudioReports["purge"]>>): string => cdnText(purged);

const deletedText = ({ hash, objects, purged }: DeletedAudio): string => {
  const found = objects.length === 0 ? `${hash} was not in the store.` : `Deleted ${objects.join(", ")}.`;
  return `${found} ${cdnText(purged)}`;
};
