/** For `node --import`: reports on standard error each OpenTelemetry module that is loaded. */
import { registerHooks } from "node:module";

registerHooks({
  load: (url, context, next) => {
    if (url.includes("/node_modules/@opentelemetry/")) process.stderr.write(`loaded ${url}\n`);
    return next(url, context);
  },
});
