/** A model that its provider ends. */
export interface ModelRetirement {
  readonly model: string;
  /** The first day without it, `YYYY-MM-DD`, UTC. */
  readonly date: string;
  /** The model to set instead. */
  readonly replacement: string;
}

/**
 * From https://developers.openai.com/api/docs/deprecations (November 2026). Dated snapshots end
 * with their model.
 */
const retirements: readonly (ModelRetirement & { readonly host: string })[] = [
  ...["tts-1", "tts-1-hd", "gpt-4o-mini-tts"].map((model) => ({
    ...{ host: "api.openai.com", model, date: "2027-01-06", replacement: "gpt-realtime-2.1-mini" },
  })),
  ...[
    ["gpt-realtime", "gpt-realtime-2.1"] as const,
    ["gpt-realtime-mini", "gpt-realtime-2.1-mini"] as const,
  ].map(([model, replacement]) => ({ host: "api.openai.com", model, date: "2027-01-20", replacement })),
];

/** The retirement of a model on the server at this URL; undefined if none is known. */
export const retirementOf = (baseUrl: string, model: string): ModelRetirement | undefined => {
  const host = URL.parse(baseUrl)?.hostname;
  const name = model.replace(/-(?:\d{4}-\d\d-\d\d|\d{4})$/, "");
  const found = retirements.find((one) => one.host === host && one.model === name);
  return found && { model, date: found.date, replacement: found.replacement };
};

/** Writes the notice for operators. */
export const retirementNotice = ({ model, date, replacement }: ModelRetirement, now: number): string => {
  const has = now >= Date.parse(date) ? `has stopped working on ${date}` : `stops working on ${date}`;
  return `The model ${model} ${has}: set the credentials again with "model": "${replacement}".`;
};
