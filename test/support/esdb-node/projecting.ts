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
import type { handleServerStreamingCall, handleUnaryCall } from "@grpc/grpc-js";
import { type CompiledProjection, compileProjection } from "../projection-language.ts";
import type { EventLog } from "./event-log.ts";
import { grpc, projectionMessages, Value } from "./wire.ts";

interface Held {
  readonly query: string;
  readonly compiled: CompiledProjection | { readonly fault: string };
  readonly enabled: boolean;
}

/** Projections that are compiled when they come, and run over the whole log when somebody asks for a state. */
export const projecting = (log: EventLog) => {
  const held = new Map<string, Held>();

  const create: handleUnaryCall<CreateReq, CreateResp> = ({ request }, answer) => {
    const options = request.getOptions();
    const name = options?.getContinuous()?.getName() ?? "";
    if (held.has(name)) return answer({ code: grpc.status.UNKNOWN, details: "Duplicate projection name" });
    const query = options?.getQuery() ?? "";
    held.set(name, { query, compiled: compiled(query), enabled: true });
    answer(null, new projectionMessages.CreateResp());
  };

  const update: handleUnaryCall<UpdateReq, UpdateResp> = ({ request }, answer) => {
    const name = request.getOptions()?.getName() ?? "";
    const found = held.get(name);
    if (!found) return answer({ code: grpc.status.NOT_FOUND });
    const query = request.getOptions()?.getQuery() ?? "";
    held.set(name, { ...found, query, compiled: compiled(query) });
    answer(null, new projectionMessages.UpdateResp());
  };

  const enable: handleUnaryCall<EnableReq, EnableResp> = ({ request }, answer) =>
    turn(request.getOptions()?.getName(), true)
      ? answer(null, new projectionMessages.EnableResp())
      : answer({ code: grpc.status.NOT_FOUND });

  const disable: handleUnaryCall<DisableReq, DisableResp> = ({ request }, answer) =>
    turn(request.getOptions()?.getName(), false)
      ? answer(null, new projectionMessages.DisableResp())
      : answer({ code: grpc.status.NOT_FOUND });

  const turn = (name = "", enabled: boolean): boolean => {
    const found = held.get(name);
    if (found) held.set(name, { ...found, enabled });
    return found !== undefined;
  };

  const statistics: handleServerStreamingCall<StatisticsReq, StatisticsResp> = (call) => {
    for (const [name, one] of held) {
      const details = new projectionMessages.StatisticsResp.Details().setName(name).setStatus(statusOf(one));
      if ("fault" in one.compiled) details.setStatereason(one.compiled.fault);
      for (const count of ["Coreprocessingtime", "Version", "Epoch"] as const) details[`set${count}`]("0");
      details.setEventsprocessedafterrestart("0").setBufferedevents("0");
      call.write(new projectionMessages.StatisticsResp().setDetails(details));
    }
    call.end();
  };

  const state: handleUnaryCall<StateReq, StateResp> = ({ request }, answer) => {
    const one = held.get(request.getOptions()?.getName() ?? "");
    if (!one || "fault" in one.compiled) return answer({ code: grpc.status.NOT_FOUND });
    const found = one.compiled.run(told(log)).get(request.getOptions()?.getPartition() ?? "");
    answer(null, new projectionMessages.StateResp().setState(Value.fromJavaScript((found ?? null) as never)));
  };

  return { create, update, enable, disable, statistics, state };
};

const compiled = (query: string): Held["compiled"] => {
  try {
    return compileProjection(query);
  } catch (error) {
    return { fault: String(error) };
  }
};

const statusOf = ({ compiled, enabled }: Held): string => {
  if ("fault" in compiled) return "Faulted";
  return enabled ? "Running" : "Stopped";
};

function* told(log: EventLog) {
  for (const { data, contentType, ...event } of log.all) {
    const isJson = contentType === "application/json";
    yield { ...event, json: isJson ? Buffer.from(data).toString("utf8") : undefined };
  }
}
