import { z } from "zod";

/** An object schema that the OpenAPI document lists under its components. */
export const namedSchema = <Shape extends z.ZodRawShape>(id: string, shape: Shape): z.ZodObject<Shape> =>
  z.object(shape).meta({ id });
