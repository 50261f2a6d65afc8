import { z } from "zod";
import type { AudioDetails, AudioList, AudioReports } from "../../../application/audio/audio-reports.ts";
import type { DeleteAudio } from "../../../application/audio/delete-audio.ts";
import { audioFormats } from "../../../domain/synthesis/formats.ts";
import { disconnectSignal } from "../../kernel/middleware.ts";
import { namedSchema } from "../../kernel/named-schema.ts";
import { type Operation, pathParams, queryParams, resourceName } from "../../kernel/operation.ts";
import { TTSService } from "../voices/schemas.ts";
import { adminOperation, count, ok, time } from "./admin-operation.ts";

const hash = resourceName(
  "The hash of the audio, as in its `ETag`.",
  "4e6ff6ac9dc1a7c7e0b1c1b6de4f2e8c1e2b7a9c3d5e0f1a2b3c4d5e6f708192",
);

const dateOrTime = z.string().optional();
const period = {
  from: dateOrTime.meta({
    description: "A date or a time, inclusive. Default: 31 days before `to`.",
    examples: ["2026-11-01"],
  }),
  to: dateOrTime.meta({
    description: "A date or a time, exclusive, at most 31 days later. Default: now.",
    examples: ["2026-12-01"],
  }),
};

const servings = {
  hash: z.string(),
  engine: TTSService,
  voice: z.string().meta({ description: "As first requested in the period." }),
  lang: z.string(),
  format: z.enum(audioFormats),
  served: count.meta({ description: "Responses with this audio in the period, repeats and parts included." }),
  characters: z.int().meta({ description: "Charged characters." }),
  from: z
    .object({ miss: count, coalesced: count, memory: count, store: count })
    .meta({ description: "Where the audio came from. All but `miss` are from cache." }),
  firstAt: time,
  lastAt: time,
};

const asOfPosition = count.meta({ description: "The position up to which the log was read." });

const audioList = namedSchema("SoundList", {
  sounds: z.array(z.object({ ...servings, bytes: count.exactOptional() })),
  served: count.meta({ description: "Of all sounds of the period, as are the next members." }),
  fromCache: count,
  distinct: count,
  isComplete: z
    .boolean()
    .meta({ description: "False if the period has more sounds than the service counts." }),
  asOfPosition,
});

const details = namedSchema("Sound", {
  hash: z.string(),
  servings: z
    .object(servings)
    .exactOptional()
    .meta({ description: "Absent if it was not served in the period." }),
  objects: z.array(
    z.object({
      name: z.string().meta({ description: "In the audio store." }),
      bytes: count,
      seconds: z.number().exactOptional().meta({ description: "Absent for marks." }),
      usedAt: time,
      public: z
        .boolean()
        .meta({ description: "Whether it is served to everyone, as audio of the free engines is." }),
      path: z
        .string()
        .exactOptional()
        .meta({ description: "Of its permanent URL, below that of `PUBLIC_URL`, if it is public." }),
      isMarks: z.boolean(),
    }),
  ),
  asOfPosition,
});

/** `/admin/audio/{hash}` */
export const deleteAudioOperation = ({ deleteAudio }: { readonly deleteAudio: DeleteAudio }): Operation =>
  adminOperation({
    method: "delete",
    path: "/admin/audio/{hash}",
    id: "deleteAudio",
    summary: "Delete audio from the store, the instances' memory and the CDN",
    description:
      "Audio of a free engine is synthesized again, with the same bytes, when it is requested again. Audio of a website's own provider is paid for again.",
    params: pathParams({ hash }),
    responses: ok(
      "The deleted objects; none if the audio was not stored.",
      z.object({
        hash: z.string(),
        objects: z.array(z.string()),
        purged: z.boolean().meta({ description: "Whether a CDN was purged; false if none is configured." }),
      }),
    ),
    errors: [503],
    handle: ({ params }, command) => deleteAudio(params.hash, command),
  });

/** `/admin/sounds`, `/admin/sounds/{hash}` and `/admin/audio/{hash}/purge` */
export const audioReportOperations = ({
  audioReports,
}: {
  readonly audioReports: AudioReports;
}): Operation[] => [
  adminOperation({
    method: "get",
    path: "/admin/sounds",
    id: "listSounds",
    summary: "List the most served sounds of at most 31 days",
    query: queryParams(z.object({ ...period, limit: z.coerce.number().int().min(1).max(100).default(25) })),
    responses: ok("The sounds, the most served one first.", audioList satisfies z.ZodType<AudioList>),
    errors: [410, 503],
    handle: ({ query }, _, ctx) => audioReports.list({ ...query, signal: disconnectSignal(ctx) }),
  }),
  adminOperation({
    method: "get",
    path: "/admin/sounds/{hash}",
    id: "readSound",
    summary:
      "Read what is known of a sound: its recipe, its objects in the store, and how often it was served",
    params: pathParams({ hash }),
    query: queryParams(z.object(period)),
    responses: ok("The sound.", details satisfies z.ZodType<AudioDetails>),
    errors: [404, 410, 503],
    handle: ({ params, query }, _, ctx) =>
      audioReports.find(params.hash, { ...query, signal: disconnectSignal(ctx) }),
  }),
  adminOperation({
    method: "post",
    path: "/admin/audio/{hash}/purge",
    id: "purgeAudio",
    summary: "Make the CDN forget audio, which stays in the store",
    params: pathParams({ hash }),
    responses: ok(
      "The CDN was purged, unless none is configured.",
      z.object({
        hash: z.string(),
        purged: z.boolean().meta({ description: "False if no CDN is configured." }),
      }),
    ),
    errors: [404, 503],
    handle: ({ params }) => audioReports.purge(params.hash),
  }),
];
