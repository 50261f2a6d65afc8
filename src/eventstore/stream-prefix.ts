/**
 * Installations that share one log name their streams by these rules. User projections of the
 * server use this file too.
 */

/** No prefix contains it, so a name with one prefix never begins with another prefix and a dot. */
const separator = ".";
/**
 * A stream of all installations, for events that test whether appends are possible. It keeps its
 * last event only.
 */
export const probeStream = "health";

const prefixPattern = /^[A-Za-z0-9_-]{1,32}$/;
const prefixedName = /^[A-Za-z0-9_-]{1,32}\./;

export const isStreamPrefix = (prefix: string): boolean => prefixPattern.test(prefix);

export type StreamNames = ReturnType<typeof streamNames>;

/**
 * The names of one installation's streams in a shared log. Without a prefix, names are stored
 * unchanged. Names with a prefix, and the stream of probes, then belong to others.
 */
export const streamNames = (prefix: string) => {
  const beginning = prefix === "" ? "" : prefix + separator;
  const isOwn = (stored: string): boolean =>
    prefix === "" ? !prefixedName.test(stored) && stored !== probeStream : stored.startsWith(beginning);
  return {
    /** The beginning of the names of all its streams; empty without a prefix. */
    beginning,
    /** The name in the log. */
    toStored: (stream: string): string => beginning + stream,
    /** The installation's own name; undefined for a stream of another installation. */
    fromStored: (stored: string): string | undefined =>
      isOwn(stored) ? stored.slice(beginning.length) : undefined,
  };
};
