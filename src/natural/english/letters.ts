/** Escapes characters for a regular expression, also for use within a class of characters. */
export const escapeRegExp = (characters: string): string =>
  characters.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");

export const isAlphabetic = (text: string): boolean => /^\p{L}+$/u.test(text);
export const isNumeric = (text: string): boolean => /^\d+$/.test(text);
export const isLower = (text: string): boolean => text === text.toLowerCase();
export const isUpper = (text: string): boolean => text === text.toUpperCase();
export const capitalized = (text: string): string =>
  text.charAt(0).toUpperCase() + text.slice(1).toLowerCase();
