/** Reports each loaded OpenTelemetry module on standard error. Run it with `node --import`. */
import { registerHooks } from "node:module";

registerHooks({
  load: (url, context, next) => {
    if (url.includes("/node_modules/@opentelemetry/")) process.stderr.write(`loaded ${url}\n`);
    return next(url, context);
  },
});
