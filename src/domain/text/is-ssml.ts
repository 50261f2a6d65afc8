/**
 * Blanks, a byte order mark and a prolog (`<?…`, `<!…`) may precede `<speak`; `<speaker>` is plain
 * text.
 */
const beginning = /^\s*(?:<[?!].*?)?<speak(?![^\s/>])/s;

export const isSsml = (text: string): boolean => beginning.test(text);
