import { repeat } from "../../async/repeat.ts";
import type { Time } from "../../async/time.ts";
import { type ProjectionServer, ProjectionServerBusy } from "../../eventstore/projection-server.ts";
import { isComplete, readUserProjectionStatuses, type UserProjectionStatus } from "./statuses.ts";

const intervalMs = 60_000;
/** The first question waits, so that it does not delay the start. */
const firstMs = 1_000;

export type UserProjectionWatch = ReturnType<typeof watchUserProjections>;

/**
 * Asks the server once a minute for the projections of this release. They concern operators only:
 * whatever happens to them, the service works. A server that runs no projections, or does not show
 * them to this user, has none to report.
 */
export const watchUserProjections = ({
  server,
  names,
  time,
}: {
  readonly server: Pick<ProjectionServer, "find" | "close">;
  readonly names: readonly string[];
  readonly time: Time;
}) => {
  let installed: readonly UserProjectionStatus[] = [];

  const ask = async (): Promise<number> => {
    const statuses = await readUserProjectionStatuses(server, names);
    installed = statuses.filter(({ state }) => state !== "absent");
    return intervalMs;
  };
  const stop = repeat({
    task: ask,
    firstMs,
    retryMs: intervalMs,
    time,
    onError: (error) => {
      // A busy server is when projections fault: what it last reported stays.
      if (!(error instanceof ProjectionServerBusy)) installed = [];
    },
  });

  return {
    /** The installed projections, as the server last reported them; empty if it did not. */
    installed: (): readonly UserProjectionStatus[] => installed,
    /**
     * Names the projections that do not run, without the server's reasons: these may name streams,
     * and /health needs no credentials.
     */
    note: (): string | undefined => {
      const stopped = installed.filter(
        (one) => !isComplete(one) && one.state !== "running" && one.state !== "changing",
      );
      if (stopped.length === 0) return undefined;
      const names = stopped.map(({ name, state }) => `${name} is ${state}`).join(", ");
      return `${names}: see voxledger projections status`;
    },
    close: async (): Promise<void> => {
      // First the server: a question in progress ends with it.
      await server.close();
      await stop();
    },
  };
};
