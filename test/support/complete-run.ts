/**
 * For `--require`. Mocha's process can end with 0 before its summary, and then reports no failure.
 * This happens if a test ends the process, or if nothing is left to wait for: in parallel mode, the
 * end of the run waits for workers, and one may have exited already.
 */
let isComplete = true;

export const mochaGlobalSetup = (): void => {
  isComplete = false;
  process.once("exit", () => {
    if (isComplete) return;
    console.error("Mocha has ended before its summary: its tests may have failed.");
    process.exitCode = 1;
  });
};

export const mochaGlobalTeardown = (): void => {
  isComplete = true;
};
