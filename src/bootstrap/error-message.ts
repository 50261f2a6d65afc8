/** Why something failed, in one line for an operator: what is wrong, not where in the code. */
export const errorMessage = (error: unknown): string => {
  const { message, cause } = error instanceof Error ? error : new Error(String(error));
  const because = cause instanceof Error && !message.includes(cause.message) ? ` (${cause.message})` : "";
  return `${message}${because}`.replace(/\s+/g, " ");
};
