import type { ComponentType, VNode } from "preact";
import { Failed, Loading } from "./components/status.ts";
import { html } from "./html.ts";
import type { ScreenProps } from "./screen-props.ts";
import { useData } from "./use-data.ts";

/** A screen whose script is loaded when it is first shown. After an update of the service, only a reload finds the new one. */
export const lazy = (load: () => Promise<ComponentType<ScreenProps>>): ComponentType<ScreenProps> => {
  let loaded: ComponentType<ScreenProps> | undefined;
  return (props: ScreenProps): VNode => {
    const data = useData(async () => {
      loaded ??= await load();
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
