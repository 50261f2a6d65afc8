import type { Route } from "./routing.ts";

export interface ScreenProps {
  readonly route: Route;
  /** The values of the `:name` parts of the screen's path. */
  readonly params: Readonly<Record<string, string>>;
}
