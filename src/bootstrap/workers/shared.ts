import type { Reports } from "../../application/health/combine-reports.ts";
import type { OpenResource } from "../../async/scheduler/scheduler.ts";
import type { ListenAt } from "../../http/kernel/server.ts";
import { type OpenShares, wholeLimit } from "../../limits/shares.ts";
import { superviseHostProcess } from "../../subprocess/supervisor.ts";

export type AskOthers = <Kind extends keyof Reports>(
  kind: Kind,
) => Promise<{ readonly reports: readonly Reports[Kind][]; readonly missing: number }>;

/** What this process shares with the other workers of its service. */
export interface Shared {
  /** Supervises the process of the speech tools. */
  readonly superviseHelper: typeof superviseHostProcess;
  /** Opens resources whose slots all workers share. If undefined, this process has its own. */
  readonly openSharedResource: OpenResource | undefined;
  /** Opens the shares of limits. */
  readonly openShares: OpenShares;
  /** Where to listen, instead of the addresses in the settings. */
  readonly sockets: { readonly http?: ListenAt; readonly wyoming?: ListenAt };
  /** True in one of the workers, which runs the background tasks that only one process must run. */
  readonly isFirst: boolean;
  /** True from the moment at which another worker has taken the place of this one. */
  readonly isReplaced: () => boolean;
  /** The number of workers. */
  readonly count: number;
  /**
   * Asks the other workers for their reports. `missing`: the number of workers that do not respond.
   */
  readonly askOthers: AskOthers;
  /** Resolves when the views of the other workers show the position, or after five seconds. */
  readonly untilOthersShow: (position: number) => Promise<void>;
  /** Called when a journal was opened, and when it has left the list of open ones. */
  readonly onJournal: (journal: string, isOpen: boolean) => void;
}

/** The parts of a process that is the whole service. */
export const alone: Shared = {
  superviseHelper: superviseHostProcess,
  openSharedResource: undefined,
  openShares: () => wholeLimit,
  sockets: {},
  isFirst: true,
  isReplaced: () => false,
  count: 1,
  askOthers: async () => ({ reports: [], missing: 0 }),
  untilOthersShow: async () => {},
  onJournal: () => {},
};
