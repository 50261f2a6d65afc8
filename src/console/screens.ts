import type { ComponentType } from "preact";
import { lazy } from "./lazy.ts";
import type { ScreenProps } from "./screen-props.ts";
import { Overview } from "./screens/overview.ts";
import { Keys } from "./screens/websites/keys.ts";

export interface Screen {
  /** `keys/:apiKey`; the first part names the entry of the navigation. */
  readonly path: string;
  readonly title: string;
  readonly view: ComponentType<ScreenProps>;
  /** Default true for paths without `/`. */
  readonly isInNavigation?: boolean;
}

/** Every screen, in the order of the navigation. */
export const screens: readonly Screen[] = [
  { path: "", title: "Overview", view: Overview },
  { path: "keys", title: "Keys", view: Keys },
  {
    path: "keys/:apiKey",
    title: "Key",
    view: lazy(async () => (await import("./screens/websites/key.ts")).Key),
  },
  {
    path: "websites",
    title: "Websites",
    view: lazy(async () => (await import("./screens/websites/websites.ts")).Websites),
  },
  {
    path: "websites/:id",
    title: "Website",
    view: lazy(async () => (await import("./screens/websites/website.ts")).Website),
  },
  {
    path: "webhooks",
    title: "Webhooks",
    view: lazy(async () => (await import("./screens/webhooks.ts")).Webhooks),
  },
  {
    path: "webhooks/:id",
    title: "Webhook",
    view: lazy(async () => (await import("./screens/webhook.ts")).Webhook),
  },
  { path: "voices", title: "Voices", view: lazy(async () => (await import("./screens/voices.ts")).Voices) },
  { path: "ledger", title: "Ledger", view: lazy(async () => (await import("./screens/ledger.ts")).Ledger) },
  { path: "as-of", title: "As of", view: lazy(async () => (await import("./screens/as-of.ts")).AsOf) },
  { path: "proof", title: "Proof", view: lazy(async () => (await import("./screens/proof.ts")).Proof) },
  { path: "sounds", title: "Sounds", view: lazy(async () => (await import("./screens/sounds.ts")).Sounds) },
  {
    path: "sounds/:hash",
    title: "Sound",
    view: lazy(async () => (await import("./screens/sound.ts")).Sound),
  },
  {
    path: "providers",
    title: "Providers",
    view: lazy(async () => (await import("./screens/providers.ts")).Providers),
  },
];
