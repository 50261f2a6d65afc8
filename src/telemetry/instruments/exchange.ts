import { SpanKind } from "@opentelemetry/api";
import type { Exchange } from "../../engines/provider-http/exchange.ts";
import { isRecording } from "../spans.ts";
import { startOperation, trackStream } from "../work.ts";

/**
 * A span for each request to a speech provider, repeated ones too. The provider is sent nothing of the trace, and the
 * trace nothing of where the request went: a website's own server is nobody else's affair.
 */
export const instrumentExchange =
  (exchange: Exchange): Exchange =>
  async (request, signal) => {
    if (!isRecording()) return await exchange(request, signal);
    const attributes = { "http.request.method": request.method };
    const work = startOperation({ name: "ask provider", kind: SpanKind.CLIENT, attributes, signal });
    try {
      const { status, headers, body } = await work.run(() => exchange(request, signal));
      work.span.setAttribute("http.response.status_code", status);
      return { status, headers, body: trackStream(body, work) };
    } catch (error) {
      work.fail(error);
      throw error;
    }
  };
