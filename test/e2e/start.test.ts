import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { startInstance } from "../support/instance.ts";
import { until } from "../support/manual-time.ts";
import { temporaryFolder } from "../support/service.ts";

describe("a process of the service", () => {
  it("listens before it loads what no request needs or only some do, and then loads the latter", async () => {
    const folder = await temporaryFolder();
    const loaded = join(folder.path, "modules");
    const hook = pathToFileURL(join(import.meta.dirname, "../support/record-modules.ts")).href;
    const service = await startInstance(folder.path, {
      NODE_OPTIONS: `--import=${hook}`,
      LOADED_MODULES: loaded,
    });
    try {
      const modules = (await readFile(loaded, "utf8")).split("\n");
      const isLoaded = (part: string): boolean => modules.some((module) => module.includes(part));
      expect(isLoaded("/src/http/app.ts")).to.equal(true);
      const early = ["/koa-body/", "/bottleneck/", "/src/natural/english/reader.ts", "/undici"];
      expect(early.filter(isLoaded)).to.deep.equal([]);
      const isLoadedLater = (part: string): boolean =>
        service.log.some((line) => line.startsWith("loaded ") && line.includes(part));
      await until(() => isLoadedLater("/koa-body/") && isLoadedLater("/bottleneck/"));
    } finally {
      await service.stop();
      await folder.remove();
    }
  });
});
