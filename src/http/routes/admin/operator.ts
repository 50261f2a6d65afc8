import type { Context } from "koa";
import type { CommandContext } from "../../../application/commands.ts";

/** The command's context of a request that was let in as the operator's. */
export const operatorOf = ({ state }: Pick<Context, "state">): CommandContext => ({
  actor: "admin",
  requestId: state.requestId,
});
