import { render } from "preact";
import { App } from "./app.ts";
import { html } from "./html.ts";

const place = document.querySelector<HTMLElement>("#console");
if (place) {
  const { base = "./" } = place.dataset;
  render(html`<${App} base=${new URL(base, location.href).href} />`, place);
}
