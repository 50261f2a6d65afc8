import type { HostOptions, JobSpec, Request, Response } from "../protocol.ts";
import { ToolFailed } from "../tools.ts";
import { type EncoderPool, startEncoderPool } from "./encoder-pool.ts";
import { loadCapabilities } from "./ffmpeg.ts";
import { type Job, serveJob } from "./job.ts";
import { startTool } from "./tool-process.ts";
import { detectVersions } from "./versions.ts";

/**
 * The helper process: starts all tools, because `spawn` blocks the event loop of the service for 1 to 30 ms, depending
 * on its memory. It ends with its parent.
 */
const { encodersAhead } = JSON.parse(process.argv[2] ?? "{}") as HostOptions;

// For this process only: tools inherit the rest of its environment.
delete process.env.MALLOC_ARENA_MAX;
delete process.env.NODE_COMPILE_CACHE;

const jobs = new Map<number, Job>();
let encoders: EncoderPool | undefined;

// The service has closed the channel or died, kill -9 included.
process.on("disconnect", () => {
  encoders?.killIdle();
  for (const job of jobs.values()) job.stop(new ToolFailed("abandoned", "The service has ended."));
  process.exit();
});

const send = (response: Response): void => {
  if (process.connected) process.send?.(response, undefined, {}, () => undefined);
};

const versions = await detectVersions();
if (versions.ffmpeg !== undefined) await loadCapabilities();
const pool = startEncoderPool(versions.ffmpeg === undefined ? {} : encodersAhead);
encoders = pool;

const start = (job: number, order: JobSpec): void => {
  const name = order.type === "tool" ? order.tool : "ffmpeg";
  try {
    const work = order.type === "tool" ? startTool(order) : pool.acquire(order.format);
    const served = serveJob(job, name, work, order, send);
    jobs.set(job, served);
    void served.finished.finally(() => jobs.delete(job));
  } catch {
    // The machine is out of processes or files.
    send({ type: "failed", job, reason: "exit", message: `${name} could not be started.` });
  }
};

process.on("message", (request: Request) => {
  if (request.type === "ping") return send({ type: "pong" });
  if (request.type === "start") return start(request.job, request.order);
  const job = jobs.get(request.job);
  switch (request.type) {
    case "input":
      return job?.input(request.bytes);
    case "end":
      return job?.end();
    case "taken":
      return job?.taken(request.bytes);
    case "abort":
      return job?.stop(new ToolFailed("abandoned", "The job was abandoned."));
  }
});

send({ type: "ready", versions });
