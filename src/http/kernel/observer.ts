import type { IncomingMessage } from "node:http";

/** Follows requests, to count and to trace them. It is told routes, never addresses. */
export interface RequestObserver {
  begin(request: IncomingMessage, requestId: string): FollowedRequest;
}

export interface FollowedRequest {
  /** What is run by this belongs to the request's trace, if it has one. */
  run<T>(work: () => T): T;
  /** To be called once. `route` is the template; undefined where there is none for the address. */
  end(route: string | undefined, status: number): void;
}
