import { expect } from "chai";
import { composeAskInstance } from "../../../src/bootstrap/commands/ask-instance.ts";
import { registerInstanceCommands } from "../../../src/cli/commands/instances.ts";
import { readSettings } from "../../../src/settings/read-settings.ts";
import { registerWebsite, synthesize } from "../../support/client.ts";
import { runCommand } from "../../support/command-line.ts";
import { duringSuite } from "../../support/during.ts";
import { freePort } from "../../support/free-port.ts";
import { startInProcessService } from "../../support/in-process-service.ts";
import { type LocalServer, serveLocally } from "../../support/local-server.ts";
import { adminToken } from "../../support/service.ts";

const auditorToken = "auditor-token-0123456789";

describe("the instance commands", () => {
  const service = duringSuite(() => startInProcessService({ AUDITOR_TOKEN: auditorToken }));

  const instance = (args: readonly string[], env: Record<string, string> = { ADMIN_TOKEN: adminToken }) =>
    runCommand(env, ["instance", ...args], (program) =>
      registerInstanceCommands(
        program,
        composeAskInstance(() => readSettings(env)),
      ),
    );

  for (const [host, name] of [
    ["127.0.0.1", "the address of HOST"],
    ["0.0.0.0", "this machine if HOST is all addresses"],
  ] as const) {
    it(`show the status of the instance on PORT, at ${name}`, async () => {
      const { port } = new URL(service.url);
      const { exitCode, stdout } = await instance(["status"], {
        HOST: host,
        PORT: port,
        AUDITOR_TOKEN: auditorToken,
      });
      expect(exitCode).to.equal(0);
      expect(stdout)
        .to.match(/^version +\d+\.\d+\.\d+$/m)
        .and.to.match(/^started +2026-11-05T10:00:00.000Z$/m)
        .and.to.match(/^views +current, [\d,]+ ms behind$/m)
        .and.to.match(/^health +(ok|degraded)$/m)
        .and.to.match(/^others +none$/m)
        .and.to.match(/^eventStore +ok/im);
    });
  }

  it("show the providers and queues of the instance with this URL", async () => {
    const { stdout } = await instance(["providers", service.url]);
    expect(stdout)
      .to.match(/^No provider was used since the instance started\.$/m)
      .and.to.match(/^RESOURCE +RUNNING +WAITING/m)
      .and.to.match(/ accepts$/m);
  });

  it("show what all instances have served", async () => {
    const website = await registerWebsite(service.url);
    const spoken = await synthesize(service.url, website, { text: "Ten letter", lang: "en-GB" });
    await spoken.arrayBuffer();
    let stdout = "";
    do ({ stdout } = await instance(["usage", service.url]));
    while (/^incomplete/m.test(stdout));
    expect(stdout)
      .to.match(/^2026-11-05 +1 +10 +1 +0 +0 +0 +0$/m)
      .and.to.match(/^2026-11-01 +1 +10 +1 +0 +0 +0 +0$/m)
      .and.to.match(/^2026-11-05 +\w+ +1 +10$/m);
  });

  it("print the response of the admin API as JSON", async () => {
    const { stdout } = await instance(["providers", service.url, "--json"]);
    const headers = { Authorization: `Bearer ${adminToken}` };
    const response = await (await fetch(`${service.url}/admin/providers`, { headers })).json();
    expect(JSON.parse(stdout)).to.deep.equal(response);
  });

  it("send an auditor's token if the settings have one", async () => {
    const seen: (string | undefined)[] = [];
    const server: LocalServer = await serveLocally((request, response) => {
      seen.push(`${request.url} ${request.headers.authorization}`);
      response.end("<p>");
    });
    const env = { ADMIN_TOKEN: adminToken, AUDITOR_TOKEN: auditorToken };
    const { exitCode, stderr } = await instance(["status", `${server.url}/base`], env);
    await server.close();
    expect(seen).to.deep.equal([`/base/admin/status Bearer ${auditorToken}`]);
    expect({ exitCode, stderr }).to.deep.equal({
      exitCode: 1,
      stderr: `error: ${server.url} responded with HTTP 200: it is no instance of this service\n`,
    });
  });

  it("fail with one line without a token, an instance or a URL", async () => {
    expect((await instance(["status"], {})).stderr).to.match(/^error: ADMIN_TOKEN or AUDITOR_TOKEN: .+\n$/);
    const wrong = await instance(["status", service.url], { ADMIN_TOKEN: "another-token-0123456789" });
    expect(wrong.stderr).to.match(/^error: http:.+ responded with HTTP 401: .+\n$/);
    const nowhere = `http://127.0.0.1:${await freePort()}`;
    expect((await instance(["status", nowhere])).stderr).to.equal(
      `error: There is no response from ${nowhere}.\n`,
    );
    expect((await instance(["status", "nonsense"])).stderr).to.match(/^error: nonsense is no URL: .+\n$/);
  });
});
