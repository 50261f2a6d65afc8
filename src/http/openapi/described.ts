import type { HeaderNames } from "../kernel/header-names.ts";
import type { RequestSchema } from "../routes/synthesis/request.ts";
import type { ErrorAnswers } from "./errors.ts";

/** What of the running service's settings a description depends on. */
export interface Described {
  /** SynthesizeRequest, with the longest text that is taken. */
  readonly schema: RequestSchema;
  readonly names: HeaderNames;
  readonly errorAnswers: ErrorAnswers;
}
