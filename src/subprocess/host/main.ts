import { errorMessage } from "../../domain/errors.ts";
import { isEncoded } from "../../domain/synthesis/formats.ts";
import { espeakArguments } from "../espeak.ts";
import type {
  EncoderSpec,
  EspeakSpec,
  HostOptions,
  JobSpec,
  Request,
  Response,
  SpeechSpec,
} from "../protocol.ts";
import { ToolFailed } from "../tools.ts";
import { startDecoder } from "./decoder.ts";
import { encodeAsProcess } from "./encoders/encoder-process.ts";
import { type EncoderPool, startEncoderPool } from "./encoders/ffmpeg-pool.ts";
import { compareWithFfmpeg, loadKnownCodecs, noCodecs, recallAlikeFfmpeg } from "./encoders/like-ffmpeg.ts";
import { createEncodingThreads } from "./encoders/threads.ts";
import { SpeakerPool } from "./espeak/speaker-pool.ts";
import type { ToolProcess } from "./exit-failure.ts";
import { Job } from "./job.ts";
import { lowerPriorityOfSession } from "./lower-priority.ts";
import { createModelPool } from "./models/model-pool.ts";
import { startText } from "./text.ts";
import { startTool } from "./tool-process.ts";
import { detectVersions } from "./versions.ts";

/**
 * The program of the helper process. It starts all tools, because `spawn` blocks the event loop of
 * the service for 1 to 30 ms, depending on its memory. It ends with its parent.
 */
const {
  encodersAhead,
  speakers: speakerCount,
  codecFolder,
} = JSON.parse(process.argv[2] ?? "{}") as HostOptions;

// These variables are for this process only. Tools inherit the rest of its environment; the
// service's own programs get the variable of the compile cache again.
for (const name of Object.keys(process.env)) if (name.startsWith("MALLOC_")) delete process.env[name];
delete process.env.NODE_COMPILE_CACHE;

const jobs = new Map<number, Job>();
let encoders: EncoderPool | undefined;
let threads: ReturnType<typeof createEncodingThreads> | undefined;
let speakers: SpeakerPool | undefined;
const models = createModelPool();

// The service has closed the channel or died, kill -9 included.
process.on("disconnect", () => {
  encoders?.killIdle();
  speakers?.kill();
  models.kill();
  for (const job of jobs.values()) job.stop(new ToolFailed("abandoned", "The service has ended."));
  if (threads?.useLibraries()) endNow(); // `exit` would fail, or wait for a thread that is stuck
  process.exit();
});

const send = (response: Response): void => {
  if (process.connected) process.send?.(response, undefined, {}, () => undefined);
};

await lowerPriorityOfSession();
const alikeFfmpeg = codecFolder === "" ? recallAlikeFfmpeg() : undefined;
const known = alikeFfmpeg === undefined ? {} : { ffmpeg: alikeFfmpeg };
const versions = await detectVersions({ known }).catch(failStart);
const codecs =
  versions.ffmpeg === undefined || codecFolder === undefined
    ? undefined
    : { ffmpegVersion: versions.ffmpeg, folder: codecFolder };
const knownCodecs = codecs && alikeFfmpeg !== undefined ? loadKnownCodecs(codecs) : undefined;
const codecsCompared = knownCodecs ?? (codecs && compareWithFfmpeg(codecs));
const speakersOpened = openSpeakers(versions["espeak-ng"]).catch(failStart);
const libraries = (await codecsCompared) ?? noCodecs;
if (codecs && libraries.encodeSome) threads = createEncodingThreads(codecs, { onStuck: endNow });
threads?.prepare(false);
const pool = startEncoderPool(versions.ffmpeg === undefined ? {} : encodersAhead);
encoders = pool;

speakers = await speakersOpened;

/** Ends this process even if a thread is stuck in a library. The service starts another one. */
function endNow(): void {
  process.kill(process.pid, "SIGKILL");
}

function failStart(error: unknown): Promise<never> {
  send({ type: "notStarted", message: errorMessage(error) });
  return new Promise(() => undefined); // the service kills this process
}

/**
 * Returns undefined if the command line must speak, because the library is missing or has another
 * version, which would make other audio.
 * @throws {ToolFailed} if the machine is too busy, so that it is unknown whether the library can be
 * loaded
 */
async function openSpeakers(version: string | undefined): Promise<SpeakerPool | undefined> {
  if (version === undefined || speakerCount === 0) return undefined;
  const opened = new SpeakerPool(speakerCount);
  const found = await opened.start().catch((error: unknown) => {
    throw new ToolFailed(
      "helper",
      `The first process of espeak-ng's library did not start: ${errorMessage(error)}`,
    );
  });
  if (found === version) return opened;
  opened.kill();
  return undefined;
}

const speak = (spec: EspeakSpec): ToolProcess =>
  speakers
    ? speakers.acquire(spec)
    : startTool({ ...spec, type: "tool", tool: "espeak-ng", args: espeakArguments(spec), output: "pipe" });

const encode = (
  { format, sampleRate, lowPriority }: Pick<EncoderSpec, "format" | "sampleRate" | "lowPriority">,
  progressive = true,
): ToolProcess =>
  threads?.areUsable() && libraries.encode(format, sampleRate)
    ? encodeAsProcess(threads.open({ format, sampleRate, lowPriority }), progressive)
    : pool.acquire(format);

const nameOf = (spec: JobSpec): string => {
  switch (spec.type) {
    case "tool":
      return spec.tool;
    case "espeak":
      return "espeak-ng";
    case "model":
      return `The model ${spec.model.name}`;
    case "encoder":
    case "decoder":
      return "ffmpeg";
    case "speech":
      return "The text";
  }
};

const begin = (job: number, spec: JobSpec): ToolProcess =>
  spec.type === "speech" ? beginText(job, spec) : beginTool(spec);

const beginText = (job: number, spec: SpeechSpec): ToolProcess => {
  if (spec.format !== undefined && isEncoded(spec.format)) threads?.prepare(spec.lowPriority);
  return startText(spec, {
    ...{ begin: beginTool, nameOf, encode },
    ask: (number, request) => send({ type: "textRequest", job, number, request }),
    onEncoding: (sampleRate) => send({ type: "encoding", job, sampleRate }),
    onSpoken: (report) => send({ type: "spoken", job, ...report }),
  });
};

const beginTool = (spec: Exclude<JobSpec, SpeechSpec>): ToolProcess => {
  switch (spec.type) {
    case "tool":
      return startTool(spec);
    case "espeak":
      return speak(spec);
    case "model":
      return models.acquire(spec);
    case "encoder":
      return encode(spec);
    case "decoder":
      return startDecoder(spec);
  }
};

const start = (job: number, spec: JobSpec): void => {
  const name = nameOf(spec);
  try {
    const toolProcess = begin(job, spec);
    const served = new Job(job, name, toolProcess, spec, send);
    jobs.set(job, served);
    void served.finished.finally(() => jobs.delete(job));
  } catch {
    // The machine is out of processes or files.
    send({ type: "failed", job, reason: "exit", message: `${name} could not be started.` });
  }
};

process.on("message", (request: Request) => {
  if (request.type === "ping") return send({ type: "pong" });
  if (request.type === "start") return start(request.job, request.spec);
  const job = jobs.get(request.job);
  switch (request.type) {
    case "input":
      return job?.input(request.bytes);
    case "end":
      return job?.end();
    case "textResponse":
      return job?.onResponse(request.response);
    case "taken":
      return job?.taken(request.bytes);
    case "abort":
      return job?.stop(new ToolFailed("abandoned", "The job was abandoned."));
  }
});

const espeak = speakers ? "library" : "command";
send({
  type: "ready",
  versions,
  espeak: versions["espeak-ng"] === undefined ? undefined : espeak,
  encoderFallback: libraries.fallback,
});
