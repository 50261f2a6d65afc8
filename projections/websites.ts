import {
  evolveWebsite,
  initialWebsite,
  type RegisteredWebsite,
  type Website,
  type WebsiteEvent,
  websiteStream,
} from "../src/domain/accounts/website.ts";
import type { Projection } from "./projection.ts";
import type { View } from "./runner/runner.ts";

/** The current state of every website. Partition: `website-{id}`. */
export const websites: Projection<Website> = {
  name: "websites",
  version: 2,
  prefixes: [websiteStream("")],
  partition: ({ stream }) => stream,
  initial: initialWebsite,
  apply: (website, { type, data }) => evolveWebsite(website, { type, data } as WebsiteEvent),
};

export const findWebsite = (view: View<Website>, websiteId: string): RegisteredWebsite | undefined => {
  const website = view.get(websiteStream(websiteId));
  return website?.status === "registered" ? website : undefined;
};

/** All websites, oldest first: a view keeps its partitions in the order of their first events. */
export const allWebsites = (view: View<Website>): RegisteredWebsite[] =>
  Iterator.from(view.entries())
    .map(([, website]) => website)
    .filter((website) => website.status === "registered")
    .toArray();
