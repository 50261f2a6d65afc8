import type { ComponentType, VNode } from "preact";
import { Failed, Loading } from "./components/status.ts";
import { html } from "./html.ts";
import type { ScreenProps } from "./routing.ts";
import { Overview } from "./screens/overview.ts";
import { Keys } from "./screens/websites/keys.ts";
import { useData } from "./use-data.ts";

type View = ComponentType<ScreenProps>;

interface Screen {
  /** `keys/:apiKey`; the first part names the entry of the navigation. */
  readonly path: string;
  readonly title: string;
  readonly view: View;
}

/**
 * A screen whose script is loaded when it is first shown. After an update of the service, only a
 * reload of the page finds the new script.
 */
const lazy = <Name extends string>(load: () => Promise<Record<Name, View>>, name: Name): View => {
  let loaded: View | undefined;
  return (props: ScreenProps): VNode => {
    const data = useData(async () => {
      loaded ??= (await load())[name];
      return { view: loaded };
    }, []);
    if (loaded) return html`<${loaded} ...${props} />`;
    if (data.status === "failed") {
      const error = new Error("This screen could not be loaded. Reload the page.");
      return html`<${Failed} error=${error} onRetry=${data.reload} />`;
    }
    return html`<${Loading} what="Loading the screen" />`;
  };
};

/** Every screen, in the order of the navigation. */
export const screens: readonly Screen[] = [
  { path: "", title: "Overview", view: Overview },
  { path: "keys", title: "Keys", view: Keys },
  { path: "keys/:apiKey", title: "Key", view: lazy(() => import("./screens/websites/key.ts"), "Key") },
  {
    path: "websites",
    title: "Websites",
    view: lazy(() => import("./screens/websites/websites.ts"), "Websites"),
  },
  {
    path: "websites/:id",
    title: "Website",
    view: lazy(() => import("./screens/websites/website.ts"), "Website"),
  },
  { path: "webhooks", title: "Webhooks", view: lazy(() => import("./screens/webhooks.ts"), "Webhooks") },
  { path: "webhooks/:id", title: "Webhook", view: lazy(() => import("./screens/webhook.ts"), "Webhook") },
  { path: "voices", title: "Voices", view: lazy(() => import("./screens/voices.ts"), "Voices") },
  { path: "ledger", title: "Ledger", view: lazy(() => import("./screens/ledger.ts"), "Ledger") },
  { path: "as-of", title: "As of", view: lazy(() => import("./screens/as-of.ts"), "AsOf") },
  { path: "proof", title: "Proof", view: lazy(() => import("./screens/proof.ts"), "Proof") },
  { path: "sounds", title: "Audio", view: lazy(() => import("./screens/audio-list.ts"), "AudioListScreen") },
  {
    path: "sounds/:hash",
    title: "Audio details",
    view: lazy(() => import("./screens/audio.ts"), "AudioScreen"),
  },
  { path: "providers", title: "Providers", view: lazy(() => import("./screens/providers.ts"), "Providers") },
];
