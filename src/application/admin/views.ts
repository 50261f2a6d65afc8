import { catalog } from "../../../projections/catalog.ts";
import { credentials } from "../../../projections/credentials.ts";
import { deliveries } from "../../../projections/deliveries.ts";
import { keys } from "../../../projections/keys.ts";
import { lexicons } from "../../../projections/lexicons.ts";
import type { Projection } from "../../../projections/projection.ts";
import { readView, type StreamsRead, unreadView } from "../../../projections/runner/read-view.ts";
import type { View } from "../../../projections/runner/view.ts";
import { webhooks } from "../../../projections/webhooks.ts";
import { websites } from "../../../projections/websites.ts";
import { credentialsStream } from "../../domain/accounts/credentials.ts";
import { keyStream } from "../../domain/accounts/key.ts";
import { websiteStream } from "../../domain/accounts/website.ts";
import { catalogStream } from "../../domain/catalog/catalog.ts";
import { lexiconsStream } from "../../domain/lexicons/lexicons.ts";
import { webhooksStream } from "../../domain/webhooks/webhooks.ts";
import type { EventStore } from "../../eventstore/event-store.ts";

/** The projections that admin services read, and the names of the streams that they fold. */
const projections = {
  websites: { projection: websites, streamOf: websiteStream },
  keys: { projection: keys, streamOf: keyStream },
  /** The id is that of a website. */
  credentials: { projection: credentials, streamOf: credentialsStream },
  /** The id is that of a website. */
  lexicons: { projection: lexicons, streamOf: lexiconsStream },
  catalog: { projection: catalog, only: catalogStream },
  webhooks: { projection: webhooks, only: webhooksStream },
  deliveries: { projection: deliveries },
} as const satisfies Readonly<Record<string, Folded>>;

interface Folded {
  // biome-ignore lint/suspicious/noExplicitAny: each row has a state of its own
  readonly projection: Projection<any>;
  /** The stream of an id. Without it, commands read all streams or none. */
  readonly streamOf?: (id: string) => string;
  /** The name of the only stream. */
  readonly only?: string;
}

type Projections = typeof projections;
type Name = keyof Projections;

/** The views, by the names of the table. */
export type AdminViews = {
  readonly [N in Name]: View<Projections[N]["projection"] extends Projection<infer S> ? S : never>;
};

/** The ids whose streams a command reads, in addition to the stream that it decides on. */
export type AdminReads = {
  readonly [N in Name]?: "all" | (Projections[N] extends { streamOf: unknown } ? readonly string[] : never);
};

/** The views that a running service follows. */
export const adminViewsOf = ({ view }: { view<S>(projection: Projection<S>): View<S> }): AdminViews =>
  Object.fromEntries(
    Object.entries<Folded>(projections).map(([name, { projection }]) => [name, view(projection)]),
  ) as unknown as AdminViews;

/** Reads the views for one command. Using a view that the command does not read is an error. */
export const readAdminViews = async (store: EventStore, reads: AdminReads): Promise<AdminViews> => {
  const views: Record<string, View<unknown>> = {};
  for (const [name, folded] of Object.entries<Folded>(projections)) {
    const { projection } = folded;
    const ids = reads[name as Name];
    views[name] = ids ? await readView(store, projection, streamsOf(folded, ids)) : unreadView(projection);
  }
  return views as unknown as AdminViews;
};

const streamsOf = ({ only, streamOf }: Folded, ids: "all" | readonly string[]): StreamsRead => {
  if (only !== undefined) return [only];
  return ids === "all" || !streamOf ? "all" : ids.map(streamOf);
};
