/** The way in which the words of a `<say-as>` are read. */
export interface SayAs {
  readonly interpretAs: string;
  readonly format: string | undefined;
}

/**
 * The voice that speaks words of a document. If empty, it is the voice of the request, in its
 * language.
 */
export interface Speaker {
  /**
   * The voice of the innermost `<voice>`: the engine's own name, and the language that it speaks.
   */
  readonly voice?: { readonly name: string; readonly lang: string | undefined } | undefined;
  /** The language of the innermost `<lang>`, if it is within that `<voice>`. */
  readonly lang?: string | undefined;
}

/** Returns the speaker within an element; undefined if the element does not change it. */
export const speakerWithin = (
  outer: Speaker,
  element: string,
  { name, "xml:lang": lang }: Readonly<Record<string, string>>,
): Speaker | undefined => {
  if (element === "voice" && name !== undefined) return { voice: { name, lang } };
  return element === "lang" ? { ...outer, lang } : undefined;
};

export const isSameSpeaker = (one: Speaker, other: Speaker): boolean =>
  one.voice?.name === other.voice?.name && one.lang === other.lang;
