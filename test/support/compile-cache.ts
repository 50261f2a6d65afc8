import { enableCompileCache } from "node:module";
import { join } from "node:path";

/**
 * For `--require`. The test process, its worker threads and its child processes share compiled code
 * with types already stripped, in the same place as the service (see scripts/node).
 */
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, "../../node_modules/.cache/voxledger");
enableCompileCache(process.env.NODE_COMPILE_CACHE);
