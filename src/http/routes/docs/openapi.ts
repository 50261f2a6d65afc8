import { z } from "zod";
import { revalidate } from "../../caching/cache-control.ts";
import { replyPublic, type TaggedContent } from "../../caching/tagged-content.ts";
import { etag, ifNoneMatch } from "../../kernel/headers.ts";
import { json, type Operation, operation } from "../../kernel/operation.ts";

/** `/openapi.json`. The document contains this operation too, so it is passed as a function. */
export const openApiOperation = (document: () => TaggedContent): Operation =>
  operation({
    method: "get",
    path: "/openapi.json",
    id: "describe",
    tag: "Service",
    summary: "Get this OpenAPI document",
    auth: "none",
    cache: [revalidate],
    headers: ifNoneMatch,
    responses: {
      200: {
        description: "The OpenAPI 3.1 document of the API.",
        headers: etag,
        content: json(z.looseObject({ openapi: z.string(), info: z.looseObject({}) })),
      },
      304: { description: "The caller has the current document.", headers: etag },
    },
    handle: (_, ctx) => replyPublic(ctx, document()),
  });
