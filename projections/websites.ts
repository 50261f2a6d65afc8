import { isEncrypted } from "../src/domain/accounts/data-key.ts";
import {
  type ErasedWebsite,
  erasedName,
  lostName,
  type RegisteredWebsite,
  type Website,
  websiteDecider,
  websiteStream,
} from "../src/domain/accounts/website.ts";
import { streamProjection } from "./projection.ts";
import type { View } from "./runner/view.ts";

/** The current state of every website. Partition: `website-{id}`. */
export const websites = streamProjection("websites", 4, websiteStream(""), websiteDecider);

export const findWebsite = (view: View<Website>, websiteId: string): RegisteredWebsite | undefined => {
  const website = view.get(websiteStream(websiteId));
  return website?.status === "registered" ? website : undefined;
};

/** The website, even if it was erased. */
export const findKnownWebsite = (
  view: View<Website>,
  websiteId: string,
): RegisteredWebsite | ErasedWebsite | undefined => {
  const website = view.get(websiteStream(websiteId));
  return website === undefined || website.status === "absent" ? undefined : website;
};

export const websiteNameOf = (view: View<Website>, websiteId: string): string | undefined => {
  const website = findKnownWebsite(view, websiteId);
  return website && shownName(website);
};

export const shownName = (website: RegisteredWebsite | ErasedWebsite): string => {
  if (website.status === "erased") return erasedName;
  return isEncrypted(website.name) ? lostName : website.name;
};

/**
 * All websites, erased ones included, oldest first: a view keeps its partitions in the order of
 * their first events.
 */
export const allWebsites = (view: View<Website>): (RegisteredWebsite | ErasedWebsite)[] =>
  Iterator.from(view.entries())
    .map(([, website]) => website)
    .filter((website) => website.status !== "absent")
    .toArray();
