import type { z } from "zod";
import { presentError } from "./error-codes.ts";
import { errorResponse } from "./error-response.ts";

/** An error as an API sends it. */
interface EnvelopedError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

/** Writes the errors of one of the service's APIs. */
export interface ErrorEnvelope {
  /** The first part of the names of its responses in the OpenAPI document. */
  readonly name: string;
  readonly schema: z.ZodType;
  /** The headers that it adds to the errors of a status. */
  headersOf(status: number): z.ZodRawShape;
  /** An unknown error becomes a 500 that reveals nothing. */
  present(error: unknown): EnvelopedError;
}

/** The service's own envelope. */
export const ownEnvelope: ErrorEnvelope = {
  name: "",
  schema: errorResponse,
  headersOf: () => ({}),
  present: presentError,
};
