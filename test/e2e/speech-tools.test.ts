import { expect } from "chai";
import type { Health } from "../../src/application/health/health.ts";
import { registerWebsite, synthesize } from "../support/client.ts";
import { duringSuite } from "../support/during.ts";
import { childrenOf, until } from "../support/processes.ts";
import { startService, temporaryFolder } from "../support/service.ts";

describe("The process of the speech tools", () => {
  const folder = duringSuite(temporaryFolder);
  const service = duringSuite(() => startService(folder.path));

  const helper = (): number => {
    const [child] = childrenOf(service.pid);
    if (!child) throw new Error("the service has no helper process");
    return child.pid;
  };
  const health = async (): Promise<Health> =>
    (await fetch(`${service.url}/health`)).json() as Promise<Health>;
  const healthUntil = async (status: string): Promise<Health> => {
    for (;;) {
      const report = await health();
      if (report.status === status) return report;
    }
  };

  it("makes the service unhealthy while it is stopped, and healthy when it resumes", async () => {
    expect((await health()).status).to.equal("ok");
    process.kill(helper(), "SIGSTOP");
    const report = await healthUntil("down");
    process.kill(helper(), "SIGCONT");
    expect(report.parts.engines).to.deep.equal({
      status: "down",
      detail: "The process of the speech tools does not respond.",
    });
    await healthUntil("ok");
  });

  it("is restarted when it is killed, and logged in one line without a path or a stack", async () => {
    const website = await registerWebsite(service.url);
    const pid = helper();
    process.kill(pid, "SIGKILL");
    await until("the restart is logged", () =>
      service.log.some((line) => line.includes("speech tools has ended")),
    );
    const response = await synthesize(service.url, website, {
      voice: "UK English Female",
      text: "Restarted.",
    });
    expect(response.status).to.equal(200);
    expect(helper()).to.not.equal(pid);
    const warnings = service.log.filter((line) => line.includes('"level":"warn"'));
    expect(warnings).to.have.length(1);
    expect(warnings.join()).to.not.match(/stack|\/src\//);
  });
});
