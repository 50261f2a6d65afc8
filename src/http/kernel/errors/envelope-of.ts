import { elevenLabsEnvelope } from "../../routes/elevenlabs/errors.ts";
import { openAiEnvelope } from "../../routes/openai/errors.ts";
import type { ErrorEnvelope } from "./error-envelope.ts";
import { errorResponse } from "./error-response.ts";
import { presentError } from "./error-types.ts";

/** The service's own envelope. */
const ownEnvelope: ErrorEnvelope = {
  name: "",
  schema: errorResponse,
  headersOf: () => ({}),
  present: presentError,
};

/** APIs of other services, by the first segment of their paths. Routes match without regard to case, and so does this. */
const compatibleApis: readonly CompatibleApi[] = [
  {
    path: /^\/openai(\/|$)/i,
    envelope: openAiEnvelope,
    clientHeaders: /^(x-stainless-[a-z-]{1,40}|openai-(organization|project|beta)|user-agent)$/,
  },
  {
    path: /^\/elevenlabs(\/|$)/i,
    envelope: elevenLabsEnvelope,
    clientHeaders: /^(xi-api-key|x-fern-[a-z-]{1,40}|user-agent)$/,
  },
];

interface CompatibleApi {
  readonly path: RegExp;
  readonly envelope: ErrorEnvelope;
  /** The names, in lower case, of the headers that its clients add to requests. Firefox lets pages set `User-Agent`. */
  readonly clientHeaders: RegExp;
}

/** The envelope of every error at a path, those of unknown paths and of refused callers included. */
export const envelopeOf = (path: string): ErrorEnvelope => compatibleApi(path)?.envelope ?? ownEnvelope;

/** The names of the headers that clients of the compatible API at that path add to requests. */
export const clientHeadersAt = (path: string): RegExp | undefined => compatibleApi(path)?.clientHeaders;

const compatibleApi = (path: string): CompatibleApi | undefined =>
  compatibleApis.find((api) => api.path.test(path));

/** True for paths at which the service speaks the API of another one. */
export const isCompatibleApi = (path: string): boolean => envelopeOf(path) !== ownEnvelope;
