import { z } from "zod";
import type { CheckHealth, Health } from "../../application/health/health.ts";
import type { Readiness, ReadinessCheck } from "../../application/health/readiness.ts";
import { noStore } from "../caching/cache-control.ts";
import { namedSchema } from "../kernel/named-schema.ts";
import { json, type Operation, operation, operationsWith } from "../kernel/operation.ts";

const part = z.object({
  status: z.enum(["ok", "down"]),
  detail: z.string().exactOptional().meta({ description: "What is wrong." }),
});

export const healthStatus = namedSchema("HealthStatus", {
  status: z.enum(["ok", "degraded", "down"]),
  parts: z.record(z.string(), part),
}) satisfies z.ZodType<Health>;

const serviceHealth = namedSchema("ServiceHealth", {
  ...healthStatus.shape,
  version: z.string().exactOptional().meta({ description: "Only for operators and auditors." }),
}) satisfies z.ZodType<Health>;

const liveness = namedSchema("Liveness", { status: z.literal("ok") });

const readinessStatus = namedSchema("Readiness", {
  status: z.enum(["ok", "degraded", "down", "draining"]),
  dependencies: z.array(
    part.extend({
      name: z.string(),
      since: z.iso.datetime().meta({ description: "The start of the current status." }),
    }),
  ),
}) satisfies z.ZodType<Readiness>;

const healthy: Health = { status: "ok", parts: { eventStore: { status: "ok" }, engines: { status: "ok" } } };
const unhealthy: Health = {
  status: "down",
  parts: { ...healthy.parts, eventStore: { status: "down", detail: "no response in time" } },
};
const dependencies: Readiness["dependencies"] = [
  { name: "eventStore", status: "ok", since: "2026-11-21T08:00:00.000Z" },
  { name: "engines", status: "ok", since: "2026-11-21T08:00:00.000Z" },
];
const ready: Readiness = { status: "ok", dependencies };
const draining: Readiness = { status: "draining", dependencies };

const common = { method: "get", tag: "Service", cache: [noStore] } as const;
const healthCheck = operationsWith({ ...common, auth: "none" });

const serving = "The service can serve requests; `degraded`: some only.";

/**
 * Health checks. A wrong token of `/health` is ignored, unless the client has presented too many,
 * because a health check that is refused would take the instance out of service. `/health/live`
 * ignores dependencies, because restarting the process would not repair them.
 */
export const healthOperations = ({
  checkHealth,
  readiness,
  version,
}: {
  checkHealth: CheckHealth;
  readiness: ReadinessCheck;
  /** The version of the program. */
  version: string;
}): Operation[] => [
  operation({
    ...common,
    auth: "anyone, or auditor",
    path: "/health",
    id: "checkHealth",
    summary: "Check the service and its parts",
    responses: {
      200: { description: serving, content: json(serviceHealth, healthy) },
      503: { description: "The service cannot serve requests.", content: json(serviceHealth, unhealthy) },
    },
    handle: async (_, ctx) => {
      const health = await checkHealth();
      if (health.status === "down") ctx.status = 503;
      return { ...health, ...(ctx.state.actor !== undefined && { version }) };
    },
  }),
  healthCheck({
    path: "/health/live",
    id: "checkLife",
    summary: "Check that the process responds",
    responses: {
      200: { description: "The process responds.", content: json(liveness, { status: "ok" }) },
    },
    handle: () => ({ status: "ok" }),
  }),
  healthCheck({
    path: "/health/ready",
    id: "checkReadiness",
    summary: "Check whether the instance should receive requests, and its dependencies",
    responses: {
      200: { description: serving, content: json(readinessStatus, ready) },
      503: {
        description: "The instance cannot serve requests, or is shutting down.",
        content: json(readinessStatus, draining),
      },
    },
    handle: async (_, ctx) => {
      const status = await readiness.check();
      if (status.status === "down" || status.status === "draining") ctx.status = 503;
      return status;
    },
  }),
];
