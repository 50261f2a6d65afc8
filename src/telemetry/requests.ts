import { SpanKind, SpanStatusCode } from "@opentelemetry/api";
import type { RequestObserver } from "../http/kernel/observer.ts";
import type { RequestDurations } from "./request-times.ts";
import type { Sampler } from "./sampler.ts";
import { noopSpan, runInSpan, startSpan } from "./spans.ts";

export interface RequestObserverOptions {
  readonly durations: RequestDurations;
  readonly sampler: Sampler;
}

export const createRequestObserver = ({ durations, sampler }: RequestObserverOptions): RequestObserver => ({
  begin: (request, requestId) => {
    const { method = "" } = request;
    const began = performance.now();
    const context = sampler.parentContext(request);
    const span = context ? startSpan(method, server, context) : noopSpan;
    return {
      run: (work) => runInSpan(span, work),
      end: (route, status) => {
        durations.add(method, route, status, (performance.now() - began) / 1_000);
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
});

const server = { kind: SpanKind.SERVER };
