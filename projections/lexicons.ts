import { lexiconsDecider, lexiconsStream } from "../src/domain/lexicons/lexicons.ts";
import { streamProjection } from "./projection.ts";

/** Each website's lexicons. Partition: `lexicons-{websiteId}`. */
export const lexicons = streamProjection("lexicons", 1, lexiconsStream(""), lexiconsDecider);
