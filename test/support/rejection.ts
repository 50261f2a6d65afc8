/** What a promise is rejected with; fails when it is not. */
export const rejection = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => Promise.reject(new Error("resolved, and should have been rejected")),
    (error: unknown) => error,
  );
