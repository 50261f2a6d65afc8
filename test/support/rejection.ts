/** The error of a promise that must be rejected. */
export const rejection = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => Promise.reject(new Error("the promise was resolved, and should have been rejected")),
    (error: unknown) => error,
  );
