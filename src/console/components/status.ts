import type { ComponentChildren, VNode } from "preact";
import { ApiError } from "../api.ts";
import { html } from "../html.ts";
import type { Data } from "../use-data.ts";

export const Loading = ({ what = "Loading" }: { what?: string }): VNode =>
  html`<p class="status loading" role="status"><span class="spinner" aria-hidden="true"></span>${what}…</p>`;

export const Empty = ({ children }: { children?: ComponentChildren }): VNode =>
  html`<p class="status empty">${children}</p>`;

export const messageOf = (error: unknown): string => {
  if (error instanceof ApiError) return error.message;
  if (error instanceof TypeError) return "The service cannot be reached.";
  return error instanceof Error ? error.message : String(error);
};

export const Failed = ({ error, onRetry }: { error: unknown; onRetry?: () => void }): VNode =>
  html`<div class="status failed" role="alert">
    <p>${messageOf(error)}</p>
    ${onRetry && html`<button type="button" onClick=${onRetry}>Try again</button>`}
  </div>`;

interface LoadedProps<T> {
  readonly data: Data<T>;
  readonly what?: string;
  readonly children: (value: T) => ComponentChildren;
}

/**
 * Shows that data is loading or has failed, or the data. Earlier data stays visible during a
 * reload, and after one that failed.
 */
export const Loaded = <T>({ data, what, children }: LoadedProps<T>): VNode => {
  if (data.status === "loading") return html`<${Loading} what=${what} />`;
  if (data.status === "failed") return html`<${Failed} error=${data.error} onRetry=${data.reload} />`;
  return html`<div class="loaded" aria-busy=${data.isStale}>
    ${data.error !== undefined && html`<${Failed} error=${data.error} onRetry=${data.reload} />`}
    ${children(data.value)}
  </div>`;
};

export type Tone = "good" | "warn" | "bad" | "neutral";

export const Badge = ({ tone = "neutral", children }: { tone?: Tone; children?: ComponentChildren }): VNode =>
  html`<span class=${`badge ${tone}`}>${children}</span>`;

interface FigureProps {
  readonly name: string;
  readonly value: ComponentChildren;
  readonly note?: ComponentChildren;
}

/** A figure with its name, and a note such as its time. */
export const Figure = ({ name, value, note }: FigureProps): VNode =>
  html`<div class="figure">
    <dt>${name}</dt>
    <dd>${value}${note && html`<small>${note}</small>`}</dd>
  </div>`;

export const FactList = ({ facts }: { facts: readonly (readonly [string, ComponentChildren])[] }): VNode =>
  html`<dl class="facts">${facts.map(([name, value]) => html`<dt key=${name}>${name}</dt><dd>${value}</dd>`)}</dl>`;

/** A share of a whole as a bar with a text. */
export const Bar = ({ part, total, label }: { part: number; total: number; label: string }): VNode => {
  const percent = total > 0 ? Math.min(100, (100 * part) / total) : 0;
  const tone = percent >= 100 ? "bad" : percent >= 80 ? "warn" : "good";
  return html`<span class="meter">
    <span class="track" aria-hidden="true"><span class=${`fill ${tone}`} style=${{ width: `${percent}%` }} /></span>
    <span>${label}</span>
  </span>`;
};
