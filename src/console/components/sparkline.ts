import type { VNode } from "preact";
import { html } from "../html.ts";

/** A small line without axes. Its text says the same in words. */
export const Sparkline = ({ values, label }: { values: readonly number[]; label: string }): VNode => {
  const top = Math.max(1, ...values);
  const step = 100 / Math.max(1, values.length - 1);
  const points = values.map(
    (value, index) => `${(index * step).toFixed(1)},${(23 - (22 * value) / top).toFixed(1)}`,
  );
  return html`<svg class="sparkline" viewBox="0 0 100 24" preserveAspectRatio="none" role="img" aria-label=${label}>
    <polyline points=${points.join(" ")} />
  </svg>`;
};
