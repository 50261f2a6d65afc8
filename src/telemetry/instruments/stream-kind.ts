/** What a stream of events is about, without the key or the website that its name goes on with. */
export const kindOf = (stream: string): string => /^[a-z]+/.exec(stream)?.[0] ?? "other";
