/**
 * Measures the cost of telemetry where it is highest: requests per second for audio in the memory
 * cache, from a service that serves metrics, exports them, and traces one request in a hundred.
 * Compares with the same service without telemetry.
 */

import { authorize, registerWebsite } from "../../test/support/client.ts";
import { serveLocally } from "../../test/support/local-server.ts";
import { startService } from "../../test/support/service.ts";
import { sideBySide } from "./side-by-side.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";
import { wrk } from "./wrk.ts";

const query = new URLSearchParams({ voice: "UK English Female", text: "What is not measured is not known." });
const connections = 64;
const seconds = 2;

/** Accepts and discards everything: the cost of a collector is not measured. */
const collector = await serveLocally((request, response) => {
  request.resume().once("end", () => response.writeHead(200).end());
});

const withTelemetry = {
  METRICS_PORT: "0",
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_METRIC_EXPORT_INTERVAL: "1000",
  OTEL_METRIC_EXPORT_TIMEOUT: "1000",
  OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
  OTEL_TRACES_SAMPLER_ARG: "0.01",
};

/** Runs the service and calls `use` with a function that measures its requests per second. */
const served = (
  env: Record<string, string>,
  use: (ask: () => Promise<number>) => Promise<void>,
): Promise<void> =>
  inTemporaryFolder(async (folder) => {
    const service = await startService(folder, { BURST_LIMIT: "1000000", ...env });
    try {
      const url = `${service.url}/v2/text/synthesize?${query}`;
      const headers = authorize(await registerWebsite(service.url));
      await (await fetch(url, { headers })).arrayBuffer();
      await use(async () => (await wrk({ url, headers, connections, seconds })).perSecond);
    } finally {
      await service.stop();
    }
  });

try {
  await served(withTelemetry, (ours) =>
    served({}, (bare) =>
      sideBySide({
        name: "cached GET with metrics and traces",
        unit: "requests/s",
        aim: { atLeast: 0.9 },
        rounds: 15,
        warmUps: 1,
        ours,
        bare,
      }),
    ),
  );
} finally {
  await collector.close();
}
