import { z } from "zod";
import { type CatalogService, newSystemVoice } from "../../../application/catalog/catalog.ts";
import { voice, voiceChange } from "../../../domain/catalog/voice-schema.ts";
import { location } from "../../kernel/headers.ts";
import { jsonRequest, pathParams, resourceName } from "../../kernel/operation.ts";
import { SystemVoice, Voice } from "../voices/schemas.ts";
import { adminOperationOf, created, ok } from "./admin-operation.ts";
import { pageMembers, pageOf, pageQuery } from "./paging.ts";

const named = pathParams({ name: resourceName("A voice's exact name.", "UK English Female") });

/** The catalog parses bodies itself. */
const read = (body: unknown): unknown => body;

const catalogOperation = adminOperationOf<{ catalog: CatalogService }>();

/**
 * `/admin/voices` and `/admin/system-voices`: the catalog of all websites. Entries are deprecated,
 * never removed.
 */
export const catalogOperations = [
  catalogOperation({
    method: "get",
    path: "/admin/voices",
    id: "listCatalog",
    summary: "List the voices of the catalog with their system voices",
    query: pageQuery,
    responses: ok(
      "The catalog.",
      z.object({
        voices: z.array(Voice),
        systemVoices: z.array(SystemVoice).meta({ description: "The system voices of these voices." }),
        ...pageMembers,
      }),
    ),
    handle: ({ catalog }, { query }) => {
      const { voices, systemVoices } = catalog.list();
      const { entries, _links } = pageOf(query, voices, ({ name }) => name);
      const ids = new Set(entries.flatMap(({ voiceIDs }) => voiceIDs));
      const used = systemVoices.filter(({ id }) => ids.has(id));
      return { voices: entries, systemVoices: used, count: entries.length, _links };
    },
  }),
  catalogOperation({
    method: "post",
    path: "/admin/voices",
    id: "addVoice",
    summary: "Add a voice",
    body: jsonRequest(
      voice,
      { name: "UK English Narrator", flag: "gb", gender: "f", lang: "en-GB", voiceIDs: [1] },
      { read },
    ),
    responses: created("The voice.", Voice, location),
    errors: [409],
    handle: async ({ catalog }, { body }, command, ctx) => {
      const voice = await catalog.addVoice(body, command);
      ctx.set("Location", `/admin/voices/${encodeURIComponent(voice.name)}`);
      return voice;
    },
  }),
  catalogOperation({
    method: "get",
    path: "/admin/voices/{name}",
    id: "showCatalogVoice",
    summary: "Show a voice of the catalog",
    params: named,
    responses: ok("The voice.", Voice),
    handle: ({ catalog }, { params }) => catalog.voice(params.name),
  }),
  catalogOperation({
    method: "patch",
    path: "/admin/voices/{name}",
    id: "changeVoice",
    summary: "Change the given members of a voice",
    params: named,
    body: jsonRequest(voiceChange, { voiceIDs: [2, 1] }, { read }),
    responses: ok("The changed voice.", Voice),
    handle: ({ catalog }, { params, body }, command) => catalog.changeVoice(params.name, body, command),
  }),
  catalogOperation({
    method: "delete",
    path: "/admin/voices/{name}",
    id: "deprecateVoice",
    summary: "Deprecate a voice; requests may still use it",
    params: named,
    responses: ok("The changed voice.", Voice),
    errors: [503],
    handle: ({ catalog }, { params }, command) => catalog.deprecateVoice(params.name, command),
  }),
  catalogOperation({
    method: "get",
    path: "/admin/system-voices",
    id: "listSystemVoices",
    summary: "List the system voices of the catalog",
    query: pageQuery,
    responses: ok("The system voices.", z.object({ systemVoices: z.array(SystemVoice), ...pageMembers })),
    handle: ({ catalog }, { query }) => {
      const { entries, _links } = pageOf(query, catalog.list().systemVoices, ({ id }) => String(id));
      return { systemVoices: entries, count: entries.length, _links };
    },
  }),
  catalogOperation({
    method: "post",
    path: "/admin/system-voices",
    id: "addSystemVoice",
    summary: "Add a system voice; without a `service` it is a voice of browsers",
    body: jsonRequest(
      newSystemVoice,
      { name: "Narrator", lang: "en-GB", service: "g1", voiceName: "espeak:gmw/en+f3" },
      { read },
    ),
    responses: created("The system voice with its assigned id.", SystemVoice),
    errors: [409],
    handle: ({ catalog }, { body }, command) => catalog.addSystemVoice(body, command),
  }),
  catalogOperation({
    method: "delete",
    path: "/admin/system-voices/{id}",
    id: "deprecateSystemVoice",
    summary: "Deprecate a system voice",
    params: pathParams({ id: z.coerce.number().int().positive() }),
    responses: ok("The changed system voice.", SystemVoice),
    errors: [503],
    handle: ({ catalog }, { params }, command) => catalog.deprecateSystemVoice(params.id, command),
  }),
];
