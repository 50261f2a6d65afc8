/**
 * For `--import`: when the service listens, writes the modules that it has loaded to the file
 * LOADED_MODULES. Writes the modules that it loads later to standard output, one line for each.
 */
import { tracingChannel } from "node:diagnostics_channel";
import { writeFileSync, writeSync } from "node:fs";
import { registerHooks } from "node:module";
import { isMainThread } from "node:worker_threads";

const ignore = (): void => {};

if (isMainThread) {
  const modules = new Set<string>();
  let isListening = false;
  registerHooks({
    load: (url, context, next) => {
      if (isListening && !modules.has(url)) writeSync(1, `loaded ${url}\n`);
      modules.add(url);
      return next(url, context);
    },
  });
  const listening = (): void => {
    isListening = true;
    const { moduleLoadList } = process as unknown as { readonly moduleLoadList: readonly string[] };
    writeFileSync(process.env.LOADED_MODULES ?? "", [...modules, ...moduleLoadList].join("\n"));
  };
  tracingChannel("net.server.listen").subscribe({
    ...{ start: ignore, end: ignore, asyncStart: ignore, error: ignore },
    asyncEnd: listening,
  });
}
