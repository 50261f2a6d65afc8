import { expect } from "chai";
import type { Health } from "../../src/application/health/health.ts";
import { registerWebsite, synthesize } from "../support/client.ts";
import { childrenOf, until } from "../support/processes.ts";
import { type RunningService, startService, temporaryFolder } from "../support/service.ts";

describe("the process that runs the speech tools", () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let service: RunningService;
  before(async () => {
    folder = await temporaryFolder();
    service = await startService(folder.path);
  });
  after(async () => {
    await service.stop();
    await folder.remove();
  });

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

  it("makes the service down while it stands still, and well when it goes on", async () => {
    expect((await health()).status).to.equal("ok");
    process.kill(helper(), "SIGSTOP");
    const report = await healthUntil("down");
    process.kill(helper(), "SIGCONT");
    expect(report.parts.engines).to.deep.equal({
      status: "down",
      detail: "The speech tools do not answer.",
    });
    await healthUntil("ok");
  });

  it("is started again when it is killed, and the log is told in one line without a path or a stack", async () => {
    const website = await registerWebsite(service.url);
    const pid = helper();
    process.kill(pid, "SIGKILL");
    await until("the log is told", () => service.log.some((line) => line.includes("speech tools has ended")));
    const answer = await synthesize(service.url, website, {
      voice: "UK English Female",
      text: "Well again.",
    });
    expect(answer.status).to.equal(200);
    expect(helper()).to.not.equal(pid);
    const warnings = service.log.filter((line) => line.includes('"level":"warn"'));
    expect(warnings).to.have.length(1);
    expect(warnings.join()).to.not.match(/stack|\/src\//);
  });
});
