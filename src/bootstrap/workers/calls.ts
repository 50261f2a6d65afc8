import type { Reports } from "../../application/health/combine-reports.ts";
import type { HelperCalls, HelperResponses } from "../../subprocess/shared-helper.ts";
import type { LimitCalls, ShareCalls } from "../../workers/limit-shares.ts";
import type { SlotCalls } from "../../workers/remote-resource.ts";
import type { CloseReason } from "../../workers/supervise-workers.ts";
import type { WriteCalls } from "./remote-writer.ts";

/** Calls of a worker to the primary. */
export type CallsToPrimary = SlotCalls &
  LimitCalls &
  HelperCalls &
  WriteCalls & {
    /** The worker serves requests from now on. */
    serving: { request: undefined; response: undefined };
    /**
     * The worker cannot record anything any more, and neither could another one: the service must
     * end.
     */
    fatal: { request: string; response: undefined };
    /** Responds with the reports of the other workers. */
    askOthers: {
      request: keyof Reports;
      response: { readonly reports: readonly Reports[keyof Reports][]; readonly missing: number };
    };
    /** The metrics of a worker that ends. */
    lastMetrics: { request: string; response: undefined };
    /** Responds when the other workers' views show the position of the log. */
    untilOthersShow: { request: number; response: undefined };
    /** The worker has opened a journal, or the journal has left the list of open ones. */
    journal: { request: { readonly journal: string; readonly isOpen: boolean }; response: undefined };
  };

/** Calls of the primary to a worker. */
export type CallsToWorker = HelperResponses &
  ShareCalls & {
    close: { request: CloseReason; response: undefined };
    /** Responds at once. */
    ping: { request: undefined; response: undefined };
    /** Responds when the worker's views show the position of the log, or after five seconds. */
    untilVisible: { request: number; response: undefined };
    /** Responds with the worker's own report. */
    report: { request: keyof Reports; response: Reports[keyof Reports] };
    /** Responds with the worker's own metrics, in Prometheus' text format. */
    metrics: { request: undefined; response: string };
    /** Recovers the journals of a worker that has ended. */
    recoverJournals: { request: readonly string[]; response: undefined };
  };

/** The only argument of a worker, as JSON. */
export interface WorkerArgument {
  /** The version of the primary. */
  readonly version: string;
  /** The number of the worker's place, from 1. */
  readonly place: number;
  readonly count: number;
  /** The addresses of the inherited sockets, in their order. */
  readonly sockets: readonly { readonly host: string; readonly port: number }[];
}
