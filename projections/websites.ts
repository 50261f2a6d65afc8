import {
  type RegisteredWebsite,
  type Website,
  websiteDecider,
  websiteStream,
} from "../src/domain/accounts/website.ts";
import { streamProjection } from "./projection.ts";
import type { View } from "./runner/view.ts";

/** The current state of every website. Partition: `website-{id}`. */
export const websites = streamProjection("websites", 2, websiteStream(""), websiteDecider);

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
