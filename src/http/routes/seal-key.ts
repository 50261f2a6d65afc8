import { z } from "zod";
import { anHour } from "../caching/cache-control.ts";
import { noSniff } from "../kernel/headers.ts";
import { type Operation, serviceOperation } from "../kernel/operation.ts";

/** The verifier keys with which anyone can verify seals of the ledger. */
export const sealKeyOperation = ({ verifierKeys }: { readonly verifierKeys: string }): Operation =>
  serviceOperation({
    path: "/.well-known/voxledger-seal.pub",
    id: "getSealKeys",
    summary: "Get the public keys of the ledger's seals",
    cache: [anHour],
    responses: {
      200: {
        description:
          "Verifier keys (https://c2sp.org/signed-note), one per line. The first is the current one.",
        headers: noSniff,
        content: { "text/plain": { schema: z.string() } },
      },
    },
    handle: (_, ctx) => {
      ctx.set("X-Content-Type-Options", "nosniff");
      ctx.type = "text/plain; charset=utf-8";
      ctx.body = verifierKeys;
    },
  });
