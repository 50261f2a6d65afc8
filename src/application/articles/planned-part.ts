import { inTimeSlices } from "../../async/time-slices.ts";
import type { Rendition } from "../../audio/pipeline/pipeline.ts";
import { Invalid, NotFound, NothingToSpeak } from "../../domain/errors.ts";
import { speakablePieces } from "../../domain/text/speakable.ts";
import { noVersion } from "../../engines/engine.ts";
import type { SynthesisPlan, SynthesisRequest } from "../synthesis/planner.ts";

/** A part of an article, as requested. */
export interface ArticlePart {
  readonly id: string;
  readonly request: SynthesisRequest;
}

/** A part that a voice speaks. */
export interface SpokenPart {
  readonly plan: SynthesisPlan;
  /** The renditions to try, best first. The first one names the part. */
  readonly renditions: readonly [Rendition, ...Rendition[]];
}

/** `silent`: nothing of its text is spoken. `failed`: no voice speaks it. */
export type PlannedPart = ArticlePart &
  (
    | ({ readonly kind: "spoken" } & SpokenPart)
    | { readonly kind: "silent" }
    | { readonly kind: "failed"; readonly error: NotFound }
  );

/**
 * Plans the parts in order. A part without a voice fails alone, because the others can be read.
 * @throws {Invalid} with the path of the part
 * @throws {NotFound} if there is no voice for any part
 */
export const planParts = async (
  plan: (request: SynthesisRequest) => SynthesisPlan,
  parts: readonly ArticlePart[],
): Promise<PlannedPart[]> => {
  const planned: PlannedPart[] = [];
  for await (const part of inTimeSlices(parts)) planned.push(planOne(plan, part, planned.length));
  const [first] = planned;
  if (first?.kind === "failed" && planned.every(({ kind }) => kind === "failed")) throw first.error;
  return planned;
};

const planOne = (
  plan: (request: SynthesisRequest) => SynthesisPlan,
  part: ArticlePart,
  index: number,
): PlannedPart => {
  try {
    return planPart(plan, part);
  } catch (error) {
    if (error instanceof NotFound) return { ...part, kind: "failed", error };
    if (error instanceof NothingToSpeak) return { ...part, kind: "silent" };
    throw error instanceof Invalid ? inPart(index, error) : error;
  }
};

const planPart = (plan: (request: SynthesisRequest) => SynthesisPlan, part: ArticlePart): PlannedPart => {
  if (part.request.text.trim() === "") return { ...part, kind: "silent" };
  const planned = plan(part.request);
  if (planned.muted) return { ...part, kind: "silent" };
  const [first] = planned.renditions;
  speakablePieces([first.document ?? first.recipe.text], first.ssml);
  return { ...part, kind: "spoken", plan: planned, renditions: installed(planned) };
};

/** Leaves out voices that are not installed here: all requests get the same address. */
const installed = ({ renditions }: SynthesisPlan): SpokenPart["renditions"] => {
  const [first, ...others] = renditions.filter(({ recipe }) => recipe.tools !== noVersion);
  return first ? [first, ...others] : renditions;
};

const inPart = (index: number, { problems }: Invalid): Invalid =>
  new Invalid(problems.map(({ path, message }) => ({ path: ["parts", index, ...path], message })));
