import { SpanKind } from "@opentelemetry/api";
import type { Exchange } from "../../engines/provider-http/exchange.ts";
import { isTraced } from "../spans.ts";
import { beginWork, followed } from "../work.ts";

/**
 * A span for each request to a speech provider, repeated ones too. The provider is sent nothing of the trace, and the
 * trace nothing of where the request went: a website's own server is nobody else's affair.
 */
export const observedExchange =
  (exchange: Exchange): Exchange =>
  async (request, signal) => {
    if (!isTraced()) return await exchange(request, signal);
    const attributes = { "http.request.method": request.method };
    const work = beginWork({ name: "ask provider", kind: SpanKind.CLIENT, attributes, signal });
    try {
      const { status, headers, body } = await work.run(() => exchange(request, signal));
      work.span.setAttribute("http.response.status_code", status);
      return { status, headers, body: followed(body, work) };
    } catch (error) {
      work.failed(error);
      throw error;
    }
  };
