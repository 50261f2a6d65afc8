import { pageScriptsDecider, pageScriptsStream } from "../src/domain/page-scripts.ts";
import { streamProjection } from "./projection.ts";

/** Which scripts of pages are pinned. Partition: `page-scripts-{hash}`. */
export const pageScripts = streamProjection("page-scripts", 1, pageScriptsStream(""), pageScriptsDecider);
