import type { Context } from "koa";
import { z } from "zod";
import type { Authenticator } from "../../application/access/authentication.ts";
import type { AudioName, AudioNames, NamedAudio } from "../../application/synthesis/audio-names.ts";
import type { SynthesisRequest } from "../../application/synthesis/planner.ts";
import { audioFormats } from "../../domain/synthesis/formats.ts";
import { parse } from "../../domain/validation.ts";
import { noStore } from "../caching/cache-control.ts";
import { namedSchema } from "../kernel/named-schema.ts";
import { json, jsonRequest, type Operation, operation, pathParams } from "../kernel/operation.ts";
import type { PublicUrl } from "../kernel/public-url.ts";
import { callerIn } from "../kernel/request-state.ts";
import { adminOperation, apiKey, count } from "./admin/admin-operation.ts";
import { requestFromBody, requestInAnyFormat } from "./synthesis/request.ts";
import { TTSService } from "./voices/schemas.ts";

const digest = z.string().regex(/^[0-9a-f]{64}$/);
const factor = z.number().optional();

const AudioNameShape = {
  name: digest.optional().meta({
    description:
      "The name of the audio: the hash of the ledger's entries, of `ETag` and of `Content-Location`. Absent if the key was not charged for the audio within ten minutes: by its name, anybody could ask whether others had it spoken.",
  }),
  nameDigest: digest.meta({
    description:
      "SHA-256 of the name's 64 digits. Compare it with that of a name which you have: they are equal only for the audio of this request.",
  }),
  url: z.url().optional().meta({
    description: "The permanent URL of public audio whose `name` is present.",
  }),
  format: z.enum(audioFormats),
  voice: z.string().meta({ description: "As in the ledger's entries." }),
  engine: TTSService,
  reproducible: z.boolean().meta({
    description:
      "True if the recipe gives the same samples on every machine: the voice runs in WebAssembly. Files of `wav` and `flac` hold these samples; other formats depend on the encoder's version, which the recipe names.",
  }),
  recipe: z
    .object({
      engine: TTSService,
      tools: z.string(),
      encoding: z.string().optional(),
      voice: z.string(),
      lang: z.string(),
      textFormat: z.string(),
      prosody: z.object({ pitch: factor, rate: factor, volume: factor }),
      format: z.enum(audioFormats),
      replacements: z.string().optional(),
      voices: z.array(z.string()).optional(),
    })
    .meta({
      description:
        "What determines the audio besides the text: `tools` are the versions of the voice, its runtime and the preparation of the text, `encoding` that of the format, `prosody` the parameters that the engine applies, `replacements` the digest of what the website's lexicons replace, `voices` the other voices in the text.",
    }),
};

const NamedAudioResponse = namedSchema("AudioName", {
  ...AudioNameShape,
  characters: count.meta({ description: "What a synthesis of the request would be charged." }),
  fallbacks: z.array(z.object(AudioNameShape)).meta({
    description: "The audio of the response if the voices before it fail, in order.",
  }),
});

interface AudioNameOptions {
  readonly audioNames: AudioNames;
  readonly authenticator: Pick<Authenticator, "actFor">;
  readonly settings: { readonly maxTextCharacters: number };
  readonly publicUrl: PublicUrl;
}

/** The names of audio, for its owner and for operators. */
export const audioNameOperations = (options: AudioNameOptions): Operation[] => {
  const body = requestBody(options.settings.maxTextCharacters);
  return [nameAudio(options, body), nameAudioOfKey(options, body)];
};

const responses = {
  200: { description: "The name, and what else is known of the audio.", content: json(NamedAudioResponse) },
};

const nameAudio = ({ audioNames, publicUrl }: AudioNameOptions, body: RequestBody): Operation =>
  operation({
    method: "post",
    path: "/v2/audio/name",
    id: "nameAudio",
    tag: "Audio",
    summary: "Name the audio of a request",
    description:
      "Compare the name with the ledger's entry of a charge: it is the audio of this request only if they are equal. Nothing is synthesized or charged, and the response is the same whether the audio exists or not.",
    auth: "website",
    cache: [noStore],
    body,
    responses,
    errors: [404],
    handle: ({ body }, ctx) =>
      present(audioNames.nameFor(callerIn(ctx.state).principal, body), ctx, publicUrl),
  });

const nameAudioOfKey = (
  { audioNames, authenticator, publicUrl }: AudioNameOptions,
  body: RequestBody,
): Operation =>
  adminOperation({
    method: "post",
    path: "/admin/keys/{apiKey}/audio/name",
    id: "nameAudioOfKey",
    summary: "Name the audio of a request of the key",
    cache: [noStore],
    params: pathParams({ apiKey }),
    body,
    responses,
    errors: [404],
    handle: ({ params, body }, _, ctx) => {
      const { websiteId } = authenticator.actFor(params.apiKey);
      return present(audioNames.nameForOperator(websiteId, body), ctx, publicUrl);
    },
  });

const requestBody = (maxCharacters: number) => {
  const schema = requestInAnyFormat(maxCharacters);
  return jsonRequest(
    z.object({ request: schema }),
    { request: { voice: "UK English Female", text: "The train to Oxford leaves at nine.", format: "wav" } },
    {
      read: (body): SynthesisRequest => ({
        ...requestFromBody(schema, parse(wrapped, body).request),
        anyFormat: true,
      }),
    },
  );
};

type RequestBody = ReturnType<typeof requestBody>;

const wrapped = z.object({ request: z.looseObject({}, { error: "request is required." }) });

const present = ({ fallbacks, ...first }: NamedAudio, ctx: Context, publicUrl: PublicUrl) => {
  const base = publicUrl(ctx.req);
  const linked = <Named extends AudioName>({ path, ...named }: Named) => ({
    ...named,
    ...(path !== undefined && { url: base + path }),
  });
  return { ...linked(first), fallbacks: fallbacks.map(linked) };
};
