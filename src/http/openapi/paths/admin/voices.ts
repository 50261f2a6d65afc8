import type { ZodOpenApiPathsObject } from "zod-openapi";
import { newSystemVoice } from "../../../../application/catalog/catalog.ts";
import { voice, voiceChange } from "../../../../domain/catalog/voice-schema.ts";
import { catalogList, systemVoiceList } from "../../../routes/admin/answers.ts";
import { pageQuery } from "../../../routes/admin/paging.ts";
import { systemVoiceId } from "../../../routes/admin/voices.ts";
import { SystemVoice, Voice } from "../../../routes/voices/schemas.ts";
import { location } from "../../headers.ts";
import { type Call, made, shown, voiceName } from "./call.ts";

/** `/admin/voices` and `/admin/system-voices`: the catalog that every website has. */
export const catalogPaths = (call: Call): ZodOpenApiPathsObject => ({
  "/admin/voices": {
    get: call({
      id: "listCatalog",
      summary: "The catalog: all voices, and the system voices behind them",
      query: pageQuery,
      answer: shown("The catalog.", catalogList),
    }),
    post: call({
      id: "addVoice",
      summary: "Add a voice",
      body: [voice, { name: "UK English Narrator", flag: "gb", gender: "f", lang: "en-GB", voiceIDs: [1] }],
      answer: made("The voice.", Voice, location),
      errors: [409],
    }),
  },
  "/admin/voices/{name}": {
    get: call({
      id: "showCatalogVoice",
      summary: "A voice of the catalog",
      path: { name: voiceName },
      answer: shown("The voice.", Voice),
    }),
    patch: call({
      id: "changeVoice",
      summary: "Change a voice: the members that are given",
      path: { name: voiceName },
      body: [voiceChange, { voiceIDs: [2, 1] }],
      answer: shown("The voice as it is now.", Voice),
    }),
    delete: call({
      id: "deprecateVoice",
      summary: "Deprecate a voice; it still speaks",
      path: { name: voiceName },
      answer: shown("The voice as it is now.", Voice),
      errors: [503],
    }),
  },
  "/admin/system-voices": {
    get: call({
      id: "listSystemVoices",
      summary: "All system voices of the catalog",
      query: pageQuery,
      answer: shown("The system voices.", systemVoiceList),
    }),
    post: call({
      id: "addSystemVoice",
      summary: "Add a system voice; without a `service` it is one that browsers bring with them",
      body: [
        newSystemVoice,
        { name: "Narrator", lang: "en-GB", service: "g1", voiceName: "espeak:gmw/en+f3" },
      ],
      answer: made("The system voice, with the id that it was given.", SystemVoice),
      errors: [409],
    }),
  },
  "/admin/system-voices/{id}": {
    delete: call({
      id: "deprecateSystemVoice",
      summary: "Deprecate a system voice",
      path: { id: systemVoiceId.shape.id },
      answer: shown("The system voice as it is now.", SystemVoice),
      errors: [503],
    }),
  },
});
