import { z } from "zod";
import type { ActivityHour } from "../../../application/health/activity.ts";
import type {
  InstanceStatus,
  ProviderStatus,
  ShowProviders,
  ShowStatus,
} from "../../../application/health/instance-status.ts";
import type { ProviderActivity } from "../../../application/health/provider-activity.ts";
import { engineCodes } from "../../../domain/synthesis/speech.ts";
import { namedSchema } from "../../kernel/named-schema.ts";
import type { Operation } from "../../kernel/operation.ts";
import { healthStatus } from "../health.ts";
import { adminOperation, count, ok, time } from "./admin-operation.ts";

const served = z.object({ requests: count, characters: count });

const activityHour = namedSchema("ActivityHour", {
  from: time,
  served: z
    .object({ miss: served, coalesced: served, memory: served, store: served })
    .meta({ description: "Requests with audio and their charged characters, by where the audio came from." }),
  refused: z.record(z.string(), count).meta({
    description: "Requests that were refused or failed, by error code; by status where it has none.",
  }),
}) satisfies z.ZodType<ActivityHour>;

const instanceStatus = namedSchema("InstanceStatus", {
  instance: z.string(),
  version: z.string(),
  startedAt: time,
  asOf: time,
  position: count.meta({ description: "The views of this instance include the log up to this position." }),
  projections: z.object({
    lagMs: count.meta({ description: "How long the views have not included the whole log." }),
    live: z.boolean(),
    failed: z.array(z.string()),
  }),
  health: healthStatus,
  others: z.array(z.object({ instance: z.string(), reportedAt: time })).meta({
    description:
      "The other instances that have reported in the last five minutes. Those without requests report in every second one.",
  }),
  activity: z
    .array(activityHour)
    .meta({ description: "What this instance did since its start, for two days at most." }),
}) satisfies z.ZodType<InstanceStatus>;

const circuit = z.enum(["closed", "open"]);
const milliseconds = z.number().min(0);

const providerActivity = namedSchema("ProviderActivity", {
  engine: z.enum(engineCodes),
  websiteId: z
    .string()
    .exactOptional()
    .meta({ description: "Whose credentials. Absent for the operator's own server." }),
  circuit,
  requests: count,
  retries: count,
  errors: count,
  latency: z
    .object({ last: milliseconds, mean: milliseconds, longest: milliseconds })
    .exactOptional()
    .meta({ description: "Milliseconds from sending a request to the headers of its response." }),
  lastError: z.object({ at: time, what: z.string() }).exactOptional(),
  changes: z
    .array(z.object({ at: time, circuit }))
    .meta({ description: "The last 100 changes of the circuit breaker." }),
}) satisfies z.ZodType<ProviderActivity>;

const providerStatus = namedSchema("ProviderStatus", {
  instance: z.string(),
  asOf: time,
  resources: z.array(
    z.object({
      resource: z.string(),
      running: count,
      queued: count,
      refused: count.meta({ description: "Since the start." }),
      refusedForKey: count.meta({
        description: "Of these, those with `KEY_OVERLOADED`, while other keys were served.",
      }),
      isFull: z.boolean().meta({ description: "Every key is refused." }),
      isSlow: z
        .boolean()
        .meta({ description: "A key has waited for more than half of the time after which it is refused." }),
      oldestWaitMs: milliseconds,
    }),
  ),
  providers: z.array(providerActivity).meta({ description: "Since the start; those that were used." }),
}) satisfies z.ZodType<ProviderStatus>;

/** `/admin/status` and `/admin/providers`: the state of the instance that responds. */
export const statusOperations = ({
  showStatus,
  showProviders,
}: {
  showStatus: ShowStatus;
  showProviders: ShowProviders;
}): Operation[] => [
  adminOperation({
    method: "get",
    path: "/admin/status",
    id: "showStatus",
    summary: "Show the health, the views and the activity of the instance that responds",
    responses: ok("The instance that responds.", instanceStatus),
    handle: () => showStatus(),
  }),
  adminOperation({
    method: "get",
    path: "/admin/providers",
    id: "showProviders",
    summary:
      "Show the queues, circuit breakers, errors and latency of the providers on the instance that responds",
    responses: ok("The providers.", providerStatus),
    handle: () => showProviders(),
  }),
];
