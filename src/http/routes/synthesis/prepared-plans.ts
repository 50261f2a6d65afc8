import { LRUCache } from "lru-cache";
import type { SynthesisPlan } from "../../../application/synthesis/planner.ts";

const maxCharacters = 32 * 1024 * 1024;
/** The recipe, and the headers of its responses. */
const overhead = 2_000;

export type PreparedPlans = ReturnType<typeof createPreparedPlans>;

/** Plans of recent request URLs, so that a repeated request is not parsed again. Plans contain nothing about the caller. */
export const createPreparedPlans = () => {
  const plans = new LRUCache<string, SynthesisPlan>({
    maxSize: maxCharacters,
    sizeCalculation: (plan, url) =>
      url.length + plan.renditions.length * (plan.renditions[0].recipe.text.length + overhead),
  });
  return {
    keep: (url: string, plan: SynthesisPlan): void => {
      plans.set(url, plan);
    },
    of: (url: string): SynthesisPlan | undefined => plans.get(url),
  };
};
