/** The code points of a text between two places, such as those of a mark. */
export const wordAt = (
  text: string,
  { start, end }: { readonly start: number; readonly end: number },
): string => Array.from(text).slice(start, end).join("");
