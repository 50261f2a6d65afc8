/** `yyyy-mm` of an ISO 8601 UTC time. */
export const monthOf = (at: string): string => at.slice(0, 7);

/**
 * The first instant of the month `yyyy-mm`, or of a month `months` later, in milliseconds since the
 * epoch.
 */
export const startOfMonth = (month: string, months = 0): number =>
  Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)) - 1 + months);

/** Lists the months from the first to the last one, inclusive; none if the last one is earlier. */
export const monthsBetween = (fromInclusive: string, toInclusive: string): string[] => {
  const months: string[] = [];
  for (let month = fromInclusive; month <= toInclusive; month = addMonths(month, 1)) {
    months.push(month);
    if (month === toInclusive) break; // "10000-01" sorts before "9999-12"
  }
  return months;
};

/** The month that is `months` later, or earlier if negative. */
export const addMonths = (month: string, months: number): string =>
  monthOf(new Date(startOfMonth(month, months)).toISOString());
