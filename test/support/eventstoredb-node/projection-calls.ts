import type {
  CreateReq,
  CreateResp,
  DeleteReq,
  DeleteResp,
  DisableReq,
  DisableResp,
  EnableReq,
  EnableResp,
  StateReq,
  StateResp,
  StatisticsReq,
  StatisticsResp,
  UpdateReq,
  UpdateResp,
} from "@eventstore/db-client/generated/projections_pb.js";
import type { handleServerStreamingCall, handleUnaryCall, ServerErrorResponse } from "@grpc/grpc-js";
import { type CompiledProjection, compileProjection } from "../projection-language.ts";
import { exception } from "./append-call.ts";
import type { EventLog } from "./event-log.ts";
import type { FaultInjection } from "./fault-injection.ts";
import type { LoggedEvent } from "./logged-event.ts";
import { ScriptTimeout } from "./projection-faults.ts";
import { grpc, projectionMessages, Value } from "./protobuf.ts";

/** A projection with its position and states, which updates, stops and faults keep. */
interface StoredProjection {
  query: string;
  /** Undefined if the server has no statistics of it, because its script was never compiled. */
  compiled: CompiledProjection | undefined;
  enabled: boolean;
  /** Why it has stopped, until it is compiled again. */
  fault: string | undefined;
  /** It has handled the events before this position. */
  position: number;
  readonly states: Map<string, string>;
}

/** Responses of servers before 24.6; later ones have specific codes. */
const received = (expected: string, instead: string): Partial<ServerErrorResponse> => ({
  code: grpc.status.UNKNOWN,
  details: `Envelope callback expected ${expected}, received ${instead} instead`,
});
const handlerFailed = { code: grpc.status.UNKNOWN, details: "Exception was thrown by handler." };
const deadlinePassed = { code: grpc.status.DEADLINE_EXCEEDED, details: "Deadline exceeded" };

export interface ProjectionOptions {
  /** Responds to questions for projections that are not compiled, as later servers do. */
  readonly reportsUncompiled?: boolean;
}

/**
 * Compiles a projection when it is created, updated or enabled. It handles events when somebody
 * asks for its status or a state.
 */
export const createProjectionHandlers = (
  log: EventLog,
  { projections: faults }: FaultInjection,
  { reportsUncompiled = false }: ProjectionOptions,
) => {
  const projections = new Map<string, StoredProjection>();

  /** Every error except a syntax error and a time-out leaves a projection with statistics. */
  const compile = (one: StoredProjection): void => {
    one.fault = undefined;
    try {
      faults.compile();
      one.compiled = compileProjection(one.query);
    } catch (error) {
      one.fault = messageOf(error);
      const isUncompiled = error instanceof ScriptTimeout || (error as Error).name === "SyntaxError";
      one.compiled = isUncompiled && !reportsUncompiled ? undefined : nothing;
    }
  };

  /** The response to a change that was made. */
  const made = (): Partial<ServerErrorResponse> | null => (faults.losesResponse() ? deadlinePassed : null);

  const create: handleUnaryCall<CreateReq, CreateResp> = ({ request }, response) => {
    if (faults.isDenied) return response(exception("access-denied", grpc.status.PERMISSION_DENIED));
    const options = request.getOptions();
    const name = options?.getContinuous()?.getName() ?? "";
    if (projections.has(name)) return response(received("Updated", "Conflict"));
    const query = options?.getQuery() ?? "";
    const created: StoredProjection = { query, ...begun() };
    compile(created);
    projections.set(name, created);
    response(made(), new projectionMessages.CreateResp());
  };

  /** Changes an existing projection. */
  const change = (
    name = "",
    apply: (found: StoredProjection) => Partial<ServerErrorResponse> | undefined,
  ): Partial<ServerErrorResponse> | null => {
    const found = projections.get(name);
    if (!found) return received("Updated", "NotFound");
    if (faults.isDenied) return received("Updated", "NotAuthorized");
    return apply(found) ?? made();
  };

  const update: handleUnaryCall<UpdateReq, UpdateResp> = ({ request }, response) => {
    const options = request.getOptions();
    const renew = (found: StoredProjection): undefined => {
      found.query = options?.getQuery() ?? "";
      compile(found);
    };
    response(change(options?.getName(), renew), new projectionMessages.UpdateResp());
  };

  const enable: handleUnaryCall<EnableReq, EnableResp> = ({ request }, response) => {
    const start = (found: StoredProjection): undefined => {
      const runs = found.enabled && found.fault === undefined;
      found.enabled = true;
      if (!runs) compile(found);
    };
    response(change(request.getOptions()?.getName(), start), new projectionMessages.EnableResp());
  };

  const disable: handleUnaryCall<DisableReq, DisableResp> = ({ request }, response) => {
    const stop = (found: StoredProjection): undefined => {
      found.enabled = false;
    };
    response(change(request.getOptions()?.getName(), stop), new projectionMessages.DisableResp());
  };

  /** A server does not respond to the removal of a projection that runs. */
  const remove: handleUnaryCall<DeleteReq, DeleteResp> = ({ request }, response) => {
    const name = request.getOptions()?.getName() ?? "";
    const removeStopped = ({
      enabled,
      fault,
    }: StoredProjection): Partial<ServerErrorResponse> | undefined => {
      if (enabled && fault === undefined) return deadlinePassed;
      projections.delete(name);
      return undefined;
    };
    response(change(name, removeStopped), new projectionMessages.DeleteResp());
  };

  /** Handles as many events as the test allows, or up to a fault. */
  const runOn = (name: string, one: StoredProjection): void => {
    const { compiled, states } = one;
    if (!compiled || !one.enabled || one.fault !== undefined) return;
    const first = log.indexAt(one.position);
    const events = log.all.slice(first, first + faults.eventsPerQuestion);
    for (const event of events) {
      try {
        faults.handle();
        const changed = compiled.fold(states, toScriptEvent(event));
        if (changed !== undefined) faults.wrote(states.get(changed) ?? "");
        one.position = event.position + 1;
      } catch (error) {
        one.fault = `The ${name} projection failed to process an event.\nEvent Position: ${event.stream}: ${event.revision}\nMessage:\n\n${messageOf(error)}`;
        return;
      }
    }
  };

  const statistics: handleServerStreamingCall<StatisticsReq, StatisticsResp> = (call) => {
    const name = call.request.getOptions()?.getName() ?? "";
    const names = name === "" ? [...projections.keys()] : [name];
    if (name !== "" && !projections.has(name))
      return void call.emit("error", received("Statistics", "NotFound"));
    if (names.some((one) => projections.get(one)?.compiled === undefined))
      return void call.emit("error", handlerFailed);
    for (const [one, found] of projections) {
      if (!names.includes(one)) continue;
      runOn(one, found);
      call.write(detailsOf(one, found, log));
    }
    call.end();
  };

  const state: handleUnaryCall<StateReq, StateResp> = ({ request }, response) => {
    const name = request.getOptions()?.getName() ?? "";
    const found = projections.get(name);
    if (found) runOn(name, found);
    if (!found?.compiled || found.fault !== undefined) return response({ code: grpc.status.NOT_FOUND });
    const text = found.states.get(request.getOptions()?.getPartition() ?? "") ?? "null";
    response(
      null,
      new projectionMessages.StateResp().setState(Value.fromJavaScript(JSON.parse(text) as never)),
    );
  };

  return { create, update, enable, disable, delete: remove, statistics, state };
};

/** The script of a projection with statistics that cannot run. */
const nothing: CompiledProjection = { run: () => new Map(), fold: () => undefined };

const begun = (): Omit<StoredProjection, "query"> => ({
  compiled: undefined,
  enabled: true,
  fault: undefined,
  position: 0,
  states: new Map(),
});

const messageOf = (error: unknown): string =>
  error instanceof ScriptTimeout ? error.message : String(error);

const detailsOf = (
  name: string,
  { fault, enabled, position }: StoredProjection,
  log: EventLog,
): StatisticsResp => {
  const status = fault === undefined ? (enabled ? "Running" : "Stopped") : "Faulted (Enabled)";
  const handled = log.indexAt(position);
  const progress = log.all.length === handled ? 100 : (100 * handled) / log.all.length;
  const details = new projectionMessages.StatisticsResp.Details()
    .setName(name)
    .setStatus(status)
    .setProgress(progress);
  if (fault !== undefined) details.setStatereason(fault);
  for (const count of ["Coreprocessingtime", "Version", "Epoch"] as const) details[`set${count}`]("0");
  details.setEventsprocessedafterrestart("0").setBufferedevents("0");
  return new projectionMessages.StatisticsResp().setDetails(details);
};

const toScriptEvent = ({ data, contentType, ...event }: LoggedEvent) => ({
  ...event,
  json: contentType === "application/json" ? Buffer.from(data).toString("utf8") : undefined,
});
