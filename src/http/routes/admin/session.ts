import { z } from "zod";
import { namedSchema } from "../../kernel/named-schema.ts";
import type { Operation } from "../../kernel/operation.ts";
import type { AdminSession } from "../../kernel/request-state.ts";
import { adminOperation, ok } from "./admin-operation.ts";

export type { AdminSession };

const adminSession = namedSchema("AdminSession", {
  role: z
    .enum(["operator", "auditor"])
    .meta({ description: "Operators may change something, auditors may only read." }),
  name: z
    .string()
    .exactOptional()
    .meta({ description: "Absent if the token has no name in ADMIN_TOKEN or AUDITOR_TOKEN." }),
}) satisfies z.ZodType<AdminSession>;

export const sessionOperation = (): Operation =>
  adminOperation({
    method: "get",
    path: "/admin/session",
    id: "showSession",
    summary: "Show the role and the name of the presented token",
    responses: ok("The role and the name.", adminSession),
    handle: (_, __, ctx) => ctx.state.adminSession,
  });
