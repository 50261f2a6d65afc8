import { z } from "zod";
import type {
  LexiconDetails,
  LexiconSummary,
  LexiconsService,
} from "../../../application/lexicons/lexicons.ts";
import { plsMediaTypes, readPls } from "../../../application/lexicons/read-pls.ts";
import { type LexiconRules, lexiconRules } from "../../../domain/lexicons/lexicon-rules.ts";
import { lexiconName } from "../../../domain/lexicons/lexicons.ts";
import { namedSchema } from "../../kernel/named-schema.ts";
import { jsonRequest, type Operation, orText, pathParams } from "../../kernel/operation.ts";
import { adminOperation, count, listed, noContent, ok, time, websiteId } from "./admin-operation.ts";

const name = lexiconName.meta({ description: "The lexicon's name.", examples: ["abbreviations"] });

const summaryMembers = {
  name,
  version: z.int().min(1).meta({ description: "Increases with every change of the website's lexicons." }),
  digest: z.string().meta({ description: "SHA-256 of language and rules, hexadecimal." }),
  lang: lexiconRules.shape.lang,
  ruleCount: count,
  setAt: time,
};

const lexiconSummary = namedSchema("LexiconSummary", summaryMembers) satisfies z.ZodType<LexiconSummary>;

const lexiconDetails = namedSchema("Lexicon", {
  ...summaryMembers,
  rules: lexiconRules.shape.rules,
}) satisfies z.ZodType<LexiconDetails>;

const example: LexiconRules = {
  lang: "en",
  rules: [
    { grapheme: "W3C", alias: "World Wide Web Consortium" },
    { grapheme: "tomato", phoneme: "təˈmɑːtəʊ", alphabet: "ipa" },
  ],
};

const plsExample = `<?xml version="1.0" encoding="UTF-8"?>
<lexicon version="1.0" xmlns="http://www.w3.org/2005/01/pronunciation-lexicon" alphabet="ipa" xml:lang="en">
  <lexeme><grapheme>W3C</grapheme><alias>World Wide Web Consortium</alias></lexeme>
</lexicon>`;

const params = pathParams({ id: websiteId, name });

/** `/admin/websites/{id}/lexicons`: how a website's texts are pronounced. */
export const lexiconOperations = ({ lexicons }: { lexicons: LexiconsService }): Operation[] => [
  adminOperation({
    method: "get",
    path: "/admin/websites/{id}/lexicons",
    id: "listLexicons",
    summary: "List a website's lexicons by name, without their rules",
    params: pathParams({ id: websiteId }),
    responses: ok("The lexicons.", z.object({ lexicons: z.array(lexiconSummary), count })),
    handle: ({ params }) => listed("lexicons", lexicons.list(params.id)),
  }),
  adminOperation({
    method: "get",
    path: "/admin/websites/{id}/lexicons/{name}",
    id: "showLexicon",
    summary: "Show a lexicon",
    params,
    responses: ok("The lexicon.", lexiconDetails),
    handle: ({ params }) => lexicons.get(params.id, params.name),
  }),
  adminOperation({
    method: "put",
    path: "/admin/websites/{id}/lexicons/{name}",
    id: "setLexicon",
    summary: "Set or replace a lexicon",
    description:
      "Applies to all syntheses of the website from now on, on every instance. Rules as JSON, or a document of the W3C's Pronunciation Lexicon Specification 1.0.",
    params,
    body: orText(jsonRequest(lexiconRules, example), {
      mediaTypes: plsMediaTypes,
      example: plsExample,
      read: readPls,
    }),
    responses: ok("The lexicon, without its rules.", lexiconSummary),
    errors: [409],
    handle: ({ params, body }, command) => lexicons.set(params.id, params.name, body, command),
  }),
  adminOperation({
    method: "delete",
    path: "/admin/websites/{id}/lexicons/{name}",
    id: "removeLexicon",
    summary: "Remove a lexicon",
    params,
    responses: noContent("The lexicon is removed."),
    errors: [503],
    handle: ({ params }, command) => lexicons.remove(params.id, params.name, command),
  }),
];
