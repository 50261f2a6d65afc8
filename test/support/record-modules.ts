/**
 * For `--import`: writes the modules that the service has resolved when it listens to the file
 * LOADED_MODULES, and those that follow to standard output, one line for each.
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
    resolve: (specifier, context, next) => {
      const resolved = next(specifier, context);
      if (isListening && !modules.has(resolved.url)) writeSync(1, `loaded ${resolved.url}\n`);
      modules.add(resolved.url);
      return resolved;
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
