import { z } from "zod";

/** An object schema that the OpenAPI document lists under its components. */
export const namedSchema = <Shape extends z.ZodRawShape>(id: string, shape: Shape): z.ZodObject<Shape> =>
  z.object(shape).meta({ id });

/** The schemas of members that always have the given values. */
export const literals = <const Values extends Readonly<Record<string, string | number | boolean>>>(
  values: Values,
) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, z.literal(value)])) as {
    readonly [Name in keyof Values]: z.ZodLiteral<Values[Name]>;
  };
