import type { IncomingMessage } from "node:http";

/** Measures and traces requests. It receives routes, never URLs. */
export interface RequestObserver {
  begin(request: IncomingMessage, requestId: string): FollowedRequest;
}

interface FollowedRequest {
  /** Runs the work in the context of the request's trace, if it has one. */
  run<T>(work: () => T): T;
  /** Called once. `route`: the route template; undefined if no route matched. */
  end(route: string | undefined, status: number): void;
}
