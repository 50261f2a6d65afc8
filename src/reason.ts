/** Why something failed, in one line for an operator: what is wrong, not where in the code. */
export const reasonOf = (error: unknown): string => {
  const { message } = error instanceof Error ? error : new Error(String(error));
  const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : "";
  return `${message}${cause}`.replace(/\s+/g, " ");
};
