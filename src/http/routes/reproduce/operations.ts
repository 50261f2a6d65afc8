import { createReadStream } from "node:fs";
import { z } from "zod";
import { NotFound } from "../../../domain/errors.ts";
import type { BundleLoader } from "../../bundles/bundles.ts";
import { immutable } from "../../caching/cache-control.ts";
import { noneMatchHits } from "../../caching/conditional.ts";
import { etag, ifNoneMatch, noSniff } from "../../kernel/headers.ts";
import { disconnectSignal } from "../../kernel/middleware.ts";
import { type Operation, pathParams, serviceOperation } from "../../kernel/operation.ts";
import { sendChunks } from "../../kernel/respond.ts";
import type { HoldUnsentBytes } from "../../kernel/unsent-bytes.ts";
import {
  bundledFile,
  bundledPageOperation,
  pageFileOperation,
  pagePolicy,
  pathToRoot,
} from "../docs/page.ts";
import { reproducePage } from "./page.ts";

/** A file that the page needs to compute audio. */
export interface VoiceFile {
  /** The page asks for it by this name, such as `pico/en-GB_ta.bin`. */
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  /** SHA-256, in hexadecimal. */
  readonly digest: string;
}

interface ReproduceOptions extends Pick<BundleLoader, "bundles"> {
  readonly voiceFiles: () => Promise<readonly VoiceFile[]>;
  readonly holdUnsentBytes: HoldUnsentBytes;
}

/**
 * `/reproduce`: a page that computes audio from its text, and compares it with what was charged.
 */
export const reproduceOperations = (options: ReproduceOptions): Operation[] => [
  openReproduce(options),
  readReproduceAsset(options),
  readVoiceFile(options),
];

/** It allows what other pages may do, and also compiling WebAssembly. */
const policy = pagePolicy().replace("script-src 'self'", "script-src 'self' 'wasm-unsafe-eval'");

const openReproduce = ({ bundles, voiceFiles }: ReproduceOptions): Operation =>
  bundledPageOperation({
    path: "/reproduce",
    id: "openReproduce",
    summary: "Compute audio in the browser, and compare it with what was charged",
    description: "The page. It asks for a website's key and secret, or an operator's token.",
    policy,
    write: async (ctx) => {
      const [{ reproduceVersion }, files] = await Promise.all([bundles(), voiceFiles()]);
      const assets = `reproduce/assets/${reproduceVersion}`;
      const digests = Object.fromEntries(files.map(({ name, digest }) => [name, digest]));
      return reproducePage({ base: pathToRoot(ctx), assets, digests });
    },
  });

const readReproduceAsset = ({ bundles }: ReproduceOptions): Operation =>
  pageFileOperation({
    path: "/reproduce/assets/{version}/{file}",
    id: "readReproduceAsset",
    summary: "Get a script or style sheet of the page that computes audio",
    parameters: {
      version: z.string().meta({ description: "The version of the page.", examples: ["2b1f0c9d8e7a6b5c"] }),
      file: z.string().meta({ description: "The name of the file.", examples: ["reproduce.js"] }),
    },
    content: { "text/javascript": { schema: z.string() }, "text/css": { schema: z.string() } },
    errors: [503],
    find: async (wanted, file) => {
      const { reproduceVersion, reproduce } = await bundles();
      return bundledFile(file, wanted === reproduceVersion ? reproduce.get(file) : undefined);
    },
  });

const partBytes = 128 * 1024;

/**
 * Models have megabytes: they are read in parts, within the budget of bytes that clients have not
 * taken.
 */
const readVoiceFile = ({ voiceFiles, holdUnsentBytes }: ReproduceOptions): Operation =>
  serviceOperation({
    path: "/reproduce/files/{digest}",
    id: "readVoiceFile",
    summary: "Get a file of a voice or its runtime, by its SHA-256",
    cors: "same origin",
    cache: [immutable],
    headers: ifNoneMatch,
    params: pathParams({
      digest: z.string().meta({
        description: "SHA-256 of the file, as in the page.",
        examples: ["57998f6423236dea25cd572a73b13f371e64155840e31b571eba7fca0b521b7e"],
      }),
    }),
    responses: {
      200: {
        description: "The file.",
        headers: { ...etag, ...noSniff },
        content: { "application/octet-stream": {} },
      },
      304: { description: "The caller has the file.", headers: { ...etag, ...noSniff } },
    },
    errors: [404],
    handle: async ({ params: { digest } }, ctx) => {
      const file = (await voiceFiles()).find((one) => one.digest === digest);
      if (!file) throw new NotFound("There is no such file.");
      const tag = `"${digest}"`;
      ctx.set({ ETag: tag, "X-Content-Type-Options": "nosniff" });
      if (noneMatchHits(ctx.req.headers["if-none-match"], [tag])) {
        ctx.status = 304;
        return;
      }
      ctx.set({ "Content-Type": "application/octet-stream", "Content-Length": String(file.bytes) });
      ctx.status = 200;
      if (ctx.method === "HEAD") {
        ctx.respond = false;
        ctx.res.end();
        return;
      }
      const signal = disconnectSignal(ctx);
      await sendChunks(ctx, partsOf(file, holdUnsentBytes(ctx, signal)), signal);
    },
  });

async function* partsOf(
  { path }: VoiceFile,
  beforePart: (bytes: number) => Promise<void>,
): AsyncGenerator<Buffer, void> {
  for await (const part of createReadStream(path, { highWaterMark: partBytes })) {
    await beforePart(part.length);
    yield part;
  }
}
