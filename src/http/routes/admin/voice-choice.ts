import { z } from "zod";
import type { CatalogService, VoiceChoiceStatus } from "../../../application/catalog/catalog.ts";
import type { SpeakingVoice } from "../../../application/catalog/speaking-voices.ts";
import { voiceChoices } from "../../../domain/catalog/natural-voices.ts";
import { qualities } from "../../../domain/catalog/voice-engines.ts";
import { type VoiceLicence, voiceLicences } from "../../../domain/catalog/voice-licences.ts";
import { engineCodes } from "../../../domain/synthesis/speech.ts";
import { namedSchema } from "../../kernel/named-schema.ts";
import { jsonRequest } from "../../kernel/operation.ts";
import { adminOperationOf, count, listed, ok } from "./admin-operation.ts";
import { pageMembers, pageOf, pageQuery } from "./paging.ts";

const choice = z.enum(voiceChoices);

const voiceChoice = namedSchema("VoiceChoice", {
  choice,
  voices: z.array(z.string()).meta({ description: "The natural voices that speak, by `voiceName`." }),
  missing: z.array(z.string()).meta({
    description: "Those that are not installed for the instance that responds: their fallbacks speak.",
  }),
  advice: z.string().exactOptional().meta({ description: "What would make voices better." }),
}) satisfies z.ZodType<VoiceChoiceStatus>;

const speakingVoice = namedSchema("SpeakingVoice", {
  name: z.string(),
  lang: z.string(),
  gender: z.enum(["f", "m"]),
  engine: z.enum(engineCodes),
  voiceName: z.string(),
  speaker: z.string().meta({ description: "The program or model that speaks." }),
  quality: z.enum(qualities),
  better: z.string().exactOptional().meta({ description: "What would make it better." }),
}) satisfies z.ZodType<SpeakingVoice>;

const licence = namedSchema("VoiceLicence", {
  name: z.string(),
  licence: z.string(),
  text: z.string().meta({ description: "Where its text is." }),
  voices: z.array(z.string()).meta({ description: "The prefixes of `voiceName` that need it." }),
}) satisfies z.ZodType<VoiceLicence>;

const choiceOperation = adminOperationOf<{ catalog: CatalogService }>();

/** These operations show and choose who speaks the voices of the catalog, and name the licences. */
export const voiceChoiceOperations = [
  choiceOperation({
    method: "get",
    path: "/admin/voice-choice",
    id: "showVoiceChoice",
    summary: "Show whether natural voices speak",
    responses: ok("The choice.", voiceChoice),
    handle: ({ catalog }) => catalog.choice(),
  }),
  choiceOperation({
    method: "put",
    path: "/admin/voice-choice",
    id: "chooseVoices",
    summary: "Choose, for all instances, whether natural voices speak",
    description:
      "`natural`: the default voices, and those that are installed for the instance that responds.",
    body: jsonRequest(z.strictObject({ choice }), { choice: "natural" }),
    responses: ok("The choice.", voiceChoice),
    errors: [503],
    handle: ({ catalog }, { body }, command) => catalog.choose(body.choice, command),
  }),
  choiceOperation({
    method: "get",
    path: "/admin/speaking-voices",
    id: "listSpeakingVoices",
    summary: "List who speaks each voice of the catalog, and what would make it better",
    query: pageQuery,
    responses: ok("The voices.", z.object({ voices: z.array(speakingVoice), ...pageMembers })),
    handle: async ({ catalog }, { query }) => {
      const { entries, _links } = pageOf(query, await catalog.speakers(), ({ name }) => name);
      return { voices: entries, count: entries.length, _links };
    },
  }),
  choiceOperation({
    method: "get",
    path: "/admin/voice-licences",
    id: "listVoiceLicences",
    summary: "List the licences of everything that speaks",
    responses: ok("The licences.", z.object({ licences: z.array(licence), count })),
    handle: () => listed("licences", voiceLicences),
  }),
];
