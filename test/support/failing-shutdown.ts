import { createLogger } from "../../src/bootstrap/observability.ts";
import { closeOnSignal } from "../../src/bootstrap/shutdown.ts";

/** A process whose close() rejects while a timer still keeps the event loop alive. */
const close = (): Promise<never> =>
  Promise.reject(new Error("the lock\nis held", { cause: new Error("by another") }));

setInterval(() => {}, 60_000);
closeOnSignal(close, createLogger("silent"), new Promise(() => {}));
process.stdout.write("ready\n");
