/**
 * Finds the first variable of the environment that is not a setting but resembles one. Returns it
 * with that setting.
 */
export const findMisspelled = (
  environment: Readonly<Record<string, string | undefined>>,
  settings: readonly string[],
): { readonly given: string; readonly meant: string } | undefined => {
  const known = settings.map((setting) => ({ setting, letters: lettersOf(setting) }));
  for (const [given, value] of Object.entries(environment)) {
    if (!value || settings.includes(given) || isServiceLink(given, value)) continue;
    const letters = lettersOf(given);
    const meant = known.find((one) => resembles(letters, one.letters))?.setting;
    if (meant !== undefined) return { given, meant };
  }
  return undefined;
};

/**
 * Compares the letters of two names. `EVENTSTORE`, `event_store`, `EVNET_STORE` and
 * `VOXLEDGER_EVENT_STORE` resemble `EVENT_STORE`.
 */
const resembles = (given: string, setting: string): boolean => {
  if (given === setting || given === `voxledger${setting}`) return true;
  // Variables of other programs usually differ in the first letter (`GLOG_LEVEL`), misspelled
  // settings hardly ever.
  if (given[0] !== setting[0]) return false;
  const tolerated = toleratedEdits(setting);
  // The difference of the lengths is the least number of edits. It excludes most names at once.
  if (Math.abs(given.length - setting.length) > tolerated) return false;
  return editDistance(given, setting) <= tolerated;
};

const lettersOf = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, "");

/** One edit of a short name can give another word: `PORT`, `SORT`. */
const toleratedEdits = ({ length }: string): number => {
  if (length < 7) return 0;
  return length < 10 ? 1 : 2;
};

/**
 * Docker and Kubernetes pass the addresses of linked services to every container: a service
 * `event-store` gives `EVENT_STORE_SERVICE_HOST`, `EVENT_STORE_PORT=tcp://10.0.0.1:2113` and
 * `EVENT_STORE_PORT_2113_TCP_ADDR`.
 */
const isServiceLink = (name: string, value: string): boolean =>
  /_SERVICE_HOST$|_SERVICE_PORT(_|$)|_PORT_\d+_(TCP|UDP|SCTP)(_|$)/.test(name) ||
  /^(tcp|udp|sctp):\/\//.test(value);

/** Damerau-Levenshtein distance (optimal string alignment). */
const editDistance = (a: string, b: string): number => {
  const rows = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number): number => rows[row]?.[column] ?? 0;
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(i - 2, j - 2) + 1 : replaced;
      row.push(Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, replaced, swapped));
    }
  }
  return at(a.length, b.length);
};
