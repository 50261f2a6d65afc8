import type { Instruments } from "./meters.ts";
import type { MetricSources } from "./telemetry.ts";

/** Looks at the parts whenever the numbers are wanted. */
export const observeGauges = ({ gauge }: Instruments, watched: MetricSources): void => {
  const { views, malformedEvents, pendingCommands, unsettledServings, pipeline, subprocess, checkHealth } =
    watched;
  gauge("viewsPosition", (observe) => observe(views().position));
  gauge("viewsLive", (observe) => observe(Number(views().live)));
  gauge("viewsFailed", (observe) => observe(views().failed.length));
  gauge("malformedEvents", (observe) => observe(malformedEvents()));
  gauge("viewsLag", (observe) => observe(views().lagMs / 1_000));

  gauge("queue", (observe) => {
    observe(pendingCommands(), { queue: "commands" });
    observe(subprocess().queued, { queue: "speech_tools" });
  });
  gauge("toolsRunning", (observe) => observe(subprocess().running));
  gauge("toolsRestarts", (observe) => observe(subprocess().restarts));

  gauge("unsettled", (observe) => observe(unsettledServings()));
  gauge("makings", (observe) => observe(pipeline().underWay));
  gauge("cacheBytes", (observe) => observe(pipeline().memory.bytes));
  gauge("cacheObjects", (observe) => observe(pipeline().memory.objects));
  gauge("pendingObjects", (observe) => observe(pipeline().writes.pendingObjects));
  gauge("pendingBytes", (observe) => observe(pipeline().writes.pendingBytes));
  gauge("lostObjects", (observe) => observe(pipeline().writes.lost));
  gauge("writeRetries", (observe) => observe(pipeline().writes.retried));
  gauge("readsSuspended", (observe) => observe(Number(pipeline().storeReads === "open")));

  gauge("dependency", async (observe) => {
    const { parts } = await checkHealth();
    for (const [dependency, { status }] of Object.entries(parts))
      observe(Number(status === "ok"), { dependency });
  });
};
