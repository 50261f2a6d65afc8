import type { Context } from "koa";
import { z } from "zod";
import type { CommandContext } from "../../../application/execute-command.ts";
import {
  type Declaration,
  type Input,
  json,
  type Operation,
  operation,
  type ResponseSpec,
  resourceName,
} from "../../kernel/operation.ts";
import { actorIn } from "../../kernel/request-state.ts";

type AdminDeclaration<Params, Query, Body, Services extends unknown[] = []> = Omit<
  Declaration<Params, Query, Body>,
  "tag" | "auth" | "handle"
> & {
  /** Returns the JSON to send. */
  handle(...args: [...Services, Input<Params, Query, Body>, CommandContext, Context]): unknown;
};

/**
 * An operation of the admin API: auditors may read, only operators may change something. The events
 * that it records name the holder of the token. `http/all-operations.ts` lists all operations.
 */
export const adminOperation = <Params, Query, Body>({
  handle,
  ...declaration
}: AdminDeclaration<Params, Query, Body>): Operation =>
  operation({
    ...declaration,
    tag: "Admin",
    auth: declaration.method === "get" ? "auditor" : "operator",
    handle: (input: Input<Params, Query, Body>, ctx) =>
      handle(input, { actor: actorIn(ctx.state), requestId: ctx.state.requestId }, ctx),
  });

/**
 * Declares an operation of the admin API whose handler receives services as its first argument. The
 * result is a function of these services.
 */
export const adminOperationOf =
  <Services>() =>
  <Params, Query, Body>({ handle, ...declaration }: AdminDeclaration<Params, Query, Body, [Services]>) =>
  (services: Services): Operation =>
    adminOperation({
      ...declaration,
      handle: (input: Input<Params, Query, Body>, command, ctx) => handle(services, input, command, ctx),
    });

type Responses = Readonly<Record<number, ResponseSpec>>;

export const ok = (description: string, schema: z.ZodType): Responses => ({
  200: { description, content: json(schema) },
});

export const created = (description: string, schema: z.ZodType, headers: z.ZodRawShape = {}): Responses => ({
  201: { description, headers, content: json(schema) },
});

export const noContent = (description: string): Responses => ({ 204: { description } });

/** The members of a response that is a whole list. */
export const listed = <Entry>(name: string, entries: readonly Entry[]) => ({
  [name]: entries,
  count: entries.length,
});

export const websiteId = resourceName("A website's id.", "web_0b9Zk2fX7Qm4sT1uVwYzAc");
export const apiKey = resourceName("A website's public key.", "vlk_0RrSxSzLwJvA8e1kzPpE3u7Q");

export const time = z.iso.datetime();
export const count = z.int().min(0);
