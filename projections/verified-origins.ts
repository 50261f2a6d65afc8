import { evolveOrigins, type WebsiteEvent, websiteStream } from "../src/domain/accounts/website.ts";
import type { Projection } from "./projection.ts";
import type { View } from "./runner/view.ts";

/** The origins by website, and the number of websites by origin. */
export interface VerifiedOrigins {
  readonly ofWebsites: Record<string, readonly string[]>;
  readonly websites: Record<string, number>;
}

const partitionName = "all";

/**
 * The verified origins of all websites. They are in one partition, because a CORS preflight names
 * no key.
 */
export const verifiedOrigins: Projection<VerifiedOrigins> = {
  name: "verified-origins",
  version: 2,
  prefixes: [websiteStream("")],
  partition: () => partitionName,
  initial: () => ({ ofWebsites: {}, websites: {} }),
  apply: (state, { stream, type, data }) => {
    const { ofWebsites, websites } = state;
    const was = ofWebsites[stream] ?? [];
    const now = evolveOrigins(was, { type, data } as WebsiteEvent);
    if (now === was) return state;
    for (const origin of was) {
      const left = (websites[origin] ?? 0) - 1;
      if (left > 0) websites[origin] = left;
      else delete websites[origin];
    }
    for (const origin of now) websites[origin] = (websites[origin] ?? 0) + 1;
    ofWebsites[stream] = now;
    return state;
  },
};

export const isVerifiedOrigin = (view: View<VerifiedOrigins>, origin: string): boolean =>
  Object.hasOwn(view.get(partitionName)?.websites ?? {}, origin);
