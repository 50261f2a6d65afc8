import { gauge, type Metric } from "./metric-definition.ts";

/**
 * The user projections that are installed on the EventStoreDB server. None without such a server,
 * or if this user may not see them.
 */
export const userProjectionMetrics = {
  userProjectionRunning: gauge(
    "voxledger.user_projection.running",
    "{projection}",
    "1 while the server runs the user projection, 0 if it is stopped or faulted.",
    { attributes: ["projection"], combined: "min" },
  ),
  userProjectionProgress: gauge(
    "voxledger.user_projection.progress",
    "1",
    "How much of the log the user projection has read.",
    { attributes: ["projection"], combined: "min" },
  ),
} as const satisfies Record<string, Metric>;
