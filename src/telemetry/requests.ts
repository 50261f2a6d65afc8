import { SpanKind, SpanStatusCode } from "@opentelemetry/api";
import type { RequestObserver } from "../http/kernel/request-state.ts";
import type { Instruments } from "./instruments.ts";
import type { Sampler } from "./sampler.ts";
import { noopSpan, runInSpan, startSpan } from "./spans.ts";

/**
 * Records the duration of every request, and a span of those that are traced. The number of series
 * is bounded: routes are templates, and methods come from a fixed list.
 */
export const createRequestObserver = (
  instruments: Pick<Instruments, "histogram">,
  sampler: Pick<Sampler, "parentContext">,
): RequestObserver => {
  const recordDuration = instruments.histogram("requests");
  return {
    begin: (request, requestId) => {
      const { method = "" } = request;
      const startedAt = performance.now();
      const context = sampler.parentContext(request);
      const span = context ? startSpan(method, server, context) : noopSpan;
      return {
        run: (step) => runInSpan(span, step),
        end: (route, status) => {
          recordDuration((performance.now() - startedAt) / 1_000, {
            "http.request.method": methods.has(method) ? method : "_OTHER",
            ...(route !== undefined && { "http.route": route }),
            "http.response.status_code": status,
          });
          if (!context) return;
          if (route !== undefined) span.updateName(`${method} ${route}`).setAttribute("http.route", route);
          span.setAttributes({
            "http.request.method": method,
            "http.response.status_code": status,
            "voxledger.request_id": requestId,
          });
          if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
          span.end();
        },
      };
    },
  };
};

const server = { kind: SpanKind.SERVER };
const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
