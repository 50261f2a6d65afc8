import type {
  CreateReq,
  CreateResp,
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
import { grpc, projectionMessages, Value } from "./protobuf.ts";

interface StoredProjection {
  readonly query: string;
  /** Undefined if the script has a syntax error. */
  readonly compiled: CompiledProjection | undefined;
  readonly enabled: boolean;
  /** Why it has stopped, until it is enabled again. */
  readonly fault?: string;
}

/** Responses of servers before 24.6; later ones have specific codes. */
const received = (expected: string, instead: string): Partial<ServerErrorResponse> => ({
  code: grpc.status.UNKNOWN,
  details: `Envelope callback expected ${expected}, received ${instead} instead`,
});
const handlerFailed = { code: grpc.status.UNKNOWN, details: "Exception was thrown by handler." };

/**
 * Compiles projections when they are created, and runs them over the whole log for each status or
 * state request.
 */
export const createProjectionHandlers = (log: EventLog, injection: FaultInjection) => {
  const projections = new Map<string, StoredProjection>();

  const create: handleUnaryCall<CreateReq, CreateResp> = ({ request }, response) => {
    if (injection.deniesProjections())
      return response(exception("access-denied", grpc.status.PERMISSION_DENIED));
    const options = request.getOptions();
    const name = options?.getContinuous()?.getName() ?? "";
    if (projections.has(name)) return response(received("Updated", "Conflict"));
    projections.set(name, { ...compiled(options?.getQuery() ?? ""), enabled: true });
    response(null, new projectionMessages.CreateResp());
  };

  /** Changes an existing projection. */
  const change = (
    name = "",
    changed: (found: StoredProjection) => StoredProjection,
  ): Partial<ServerErrorResponse> | null => {
    const found = projections.get(name);
    if (!found) return received("Updated", "NotFound");
    if (injection.deniesProjections()) return received("Updated", "NotAuthorized");
    projections.set(name, changed(found));
    return null;
  };

  const update: handleUnaryCall<UpdateReq, UpdateResp> = ({ request }, response) => {
    const options = request.getOptions();
    const renew = (found: StoredProjection): StoredProjection => ({
      ...found,
      ...compiled(options?.getQuery() ?? ""),
    });
    response(change(options?.getName(), renew), new projectionMessages.UpdateResp());
  };

  const enable: handleUnaryCall<EnableReq, EnableResp> = ({ request }, response) => {
    const start = ({ query, compiled }: StoredProjection): StoredProjection => ({
      query,
      compiled,
      enabled: true,
    });
    response(change(request.getOptions()?.getName(), start), new projectionMessages.EnableResp());
  };

  const disable: handleUnaryCall<DisableReq, DisableResp> = ({ request }, response) => {
    const stop = (found: StoredProjection): StoredProjection => ({ ...found, enabled: false });
    response(change(request.getOptions()?.getName(), stop), new projectionMessages.DisableResp());
  };

  /** Runs a projection to the end of the log, or to its fault. */
  const runOne = (name: string): ReturnType<CompiledProjection["run"]> | undefined => {
    const one = projections.get(name);
    if (!one?.compiled || one.fault !== undefined) return undefined;
    try {
      return one.compiled.run(eventsOf(log));
    } catch (error) {
      projections.set(name, { ...one, fault: String(error) });
      return undefined;
    }
  };

  const statistics: handleServerStreamingCall<StatisticsReq, StatisticsResp> = (call) => {
    const name = call.request.getOptions()?.getName() ?? "";
    const names = name === "" ? [...projections.keys()] : [name];
    if (name !== "" && !projections.has(name))
      return void call.emit("error", received("Statistics", "NotFound"));
    if (names.some((one) => projections.get(one)?.compiled === undefined))
      return void call.emit("error", handlerFailed);
    for (const one of names) {
      runOne(one);
      call.write(detailsOf(one, projections.get(one)));
    }
    call.end();
  };

  const state: handleUnaryCall<StateReq, StateResp> = ({ request }, response) => {
    const states = runOne(request.getOptions()?.getName() ?? "");
    if (!states) return response({ code: grpc.status.NOT_FOUND });
    const found = states.get(request.getOptions()?.getPartition() ?? "");
    response(
      null,
      new projectionMessages.StateResp().setState(Value.fromJavaScript((found ?? null) as never)),
    );
  };

  return { create, update, enable, disable, statistics, state };
};

/** Every error except a syntax error is a fault. */
const compiled = (query: string): Pick<StoredProjection, "query" | "compiled" | "fault"> => {
  try {
    return { query, compiled: compileProjection(query) };
  } catch (error) {
    if ((error as Error).name === "SyntaxError") return { query, compiled: undefined, fault: String(error) };
    return { query, compiled: { run: () => new Map() }, fault: String(error) };
  }
};

const detailsOf = (name: string, one: StoredProjection | undefined): StatisticsResp => {
  const status = one?.fault === undefined ? (one?.enabled ? "Running" : "Stopped") : "Faulted (Enabled)";
  const details = new projectionMessages.StatisticsResp.Details().setName(name).setStatus(status);
  if (one?.fault !== undefined) details.setStatereason(one.fault);
  for (const count of ["Coreprocessingtime", "Version", "Epoch"] as const) details[`set${count}`]("0");
  details.setEventsprocessedafterrestart("0").setBufferedevents("0");
  return new projectionMessages.StatisticsResp().setDetails(details);
};

function* eventsOf(log: EventLog) {
  for (const { data, contentType, ...event } of log.all) {
    const isJson = contentType === "application/json";
    yield { ...event, json: isJson ? Buffer.from(data).toString("utf8") : undefined };
  }
}
