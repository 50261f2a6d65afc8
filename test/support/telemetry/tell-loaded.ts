/** For `node --import`: tells on standard error what of OpenTelemetry is loaded. */
import { registerHooks } from "node:module";

registerHooks({
  load: (url, context, next) => {
    if (url.includes("/node_modules/@opentelemetry/")) process.stderr.write(`loaded ${url}\n`);
    return next(url, context);
  },
});
