import { runRestoreDrill } from "./restore-drill/drill.ts";

describe("A backup of a running service", () => {
  for (const store of ["sqlite", "eventstoredb"] as const) {
    it(`restores what it had after everything is lost, and says what is missing since, over ${store}`, () =>
      runRestoreDrill(store));
  }
});
