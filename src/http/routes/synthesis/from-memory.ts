import type { IncomingMessage, ServerResponse } from "node:http";
import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import type { Audio, Synthesis } from "../../../application/synthesis/delivery.ts";
import type { SynthesisPlan } from "../../../application/synthesis/planner.ts";
import type { UnreadAudio } from "../../../limits/unread-audio.ts";
import { clientClosedRequest, onResponseEnd } from "../../kernel/middleware.ts";
import { type Caller, callerIn, type FromMemory, type RequestState } from "../../kernel/request-state.ts";
import type { SynthesisPresenter } from "./presenter.ts";

interface MemoryOptions {
  readonly synthesis: Pick<
    Synthesis,
    "isCurrent" | "usesSharedPlans" | "fromMemory" | "recordFromMemory" | "callerDisconnected"
  >;
  readonly presenter: Pick<SynthesisPresenter, "headersFromMemory">;
  readonly unread: Pick<UnreadAudio, "hold">;
  readonly log: Logger;
}

/** Plans and their URLs are kept up to this number of characters. */
const maxCharacters = 32 * 1024 * 1024;
/** The size of a rendition's recipe without its text, and of the headers of its responses. */
const overhead = 2_000;

/**
 * Responds to a plain GET whose URL was prepared before and whose audio is in memory, for websites
 * without lexicons. It uses callbacks and prebuilt headers, because promises and middleware would
 * cost more than the rest of the request.
 */
export const createMemoryResponses = (options: MemoryOptions) => {
  const { synthesis, presenter, unread, log } = options;
  /** Plans by their URLs. They contain nothing about the caller. */
  const plans = new LRUCache<string, SynthesisPlan>({
    maxSize: maxCharacters,
    sizeCalculation: (plan, url) =>
      url.length + plan.renditions.length * (plan.renditions[0].recipe.text.length + overhead),
  });

  const currentPlan = (url: string, websiteId: string): SynthesisPlan | undefined => {
    const plan = plans.get(url);
    if (!plan || plan.muted) return undefined;
    try {
      return synthesis.isCurrent(plan) && synthesis.usesSharedPlans(websiteId) ? plan : undefined;
    } catch {
      return undefined; // A view is out of date: the operation refuses the request.
    }
  };

  const respond: FromMemory = (req, res, state, refuse) => {
    if (isSpecial(req)) return false;
    const caller = callerIn(state);
    const { principal } = caller;
    const plan = currentPlan(req.url ?? "", principal.websiteId);
    const audio = plan && synthesis.fromMemory(plan);
    if (!audio) return false;
    const endLog = beginLog(log, res, state);
    const recorded: Parameters<Synthesis["recordFromMemory"]>[4] = (error, receipt) => {
      if (!receipt) return refuse(error);
      if (req.socket.destroyed) synthesis.callerDisconnected(receipt);
      else {
        sendAudio(res, state.requestId, caller, presenter.headersFromMemory(plan, audio), audio);
        // Nearly always the operating system has taken all of the response.
        if (res.writableLength > 0) onResponseEnd(res, unread.hold(principal.apiKey, audio.bytes.buffer));
      }
      endLog?.();
    };
    try {
      synthesis.recordFromMemory(plan, principal, state.requestId, audio, recorded);
    } catch (refusal) {
      refuse(refusal);
    }
    return true;
  };

  return {
    /** Keeps the plan of a URL, so that a repeated request is neither parsed nor planned. */
    prepare: (url: string, plan: SynthesisPlan): void => {
      plans.set(url, plan);
    },
    respond,
  };
};

/** True if the response depends on more than the URL and the caller. */
const isSpecial = ({ method, headers }: IncomingMessage): boolean =>
  method !== "GET" ||
  headers["if-none-match"] !== undefined ||
  headers.range !== undefined ||
  headers["idempotency-key"] !== undefined;

/** The headers are one flat array, so that Node copies and merges nothing. */
const sendAudio = (
  res: ServerResponse,
  requestId: string,
  { admission: { limit, remaining } }: Caller,
  headers: readonly string[],
  { bytes }: Audio,
): void => {
  res.writeHead(200, [
    "X-Request-Id",
    requestId,
    "X-RateLimit-Limit",
    String(limit),
    "X-RateLimit-Remaining",
    String(remaining),
    ...headers,
  ]);
  res.end(bytes);
};

/**
 * Returns undefined unless requests are logged: composing the line costs as much as the response.
 */
const beginLog = (log: Logger, res: ServerResponse, { requestId, route, caller }: RequestState) => {
  if (!log.isLevelEnabled("debug")) return undefined;
  const startedAt = performance.now();
  return (): void => {
    const ms = Math.round(performance.now() - startedAt);
    const status = res.headersSent ? res.statusCode : clientClosedRequest;
    log.debug(
      {
        requestId,
        method: "GET",
        route: route.operation?.template,
        status,
        ms,
        apiKey: caller?.principal.apiKey,
        fastPath: true,
      },
      "request",
    );
  };
};
