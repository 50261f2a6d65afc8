import type { ZodOpenApiOverride } from "zod-openapi";
import { planOrTier, tiers } from "../../domain/accounts/plan.ts";

/** What a schema takes that zod cannot tell of it. */
export const unrepresentable: ZodOpenApiOverride = ({ zodSchema, jsonSchema }) => {
  if (zodSchema !== planOrTier) return;
  const { oneOf = [] } = jsonSchema;
  delete jsonSchema.type;
  // A tier with numbers of its own by its name alone: it is made a plan before the schema sees it.
  jsonSchema.oneOf = [{ type: "string", enum: tiers.filter((tier) => tier !== "enterprise") }, ...oneOf];
};
