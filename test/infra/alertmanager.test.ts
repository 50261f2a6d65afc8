import { execFile } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { parse } from "yaml";
import { duringSuite } from "../support/during.ts";
import { namesInEnv, read, readYaml } from "./files.ts";

const run = promisify(execFile);
const start = join(import.meta.dirname, "../../infra/alertmanager/start");

/** A folder with a program `alertmanager` that prints the configuration that it is started with. */
const openStandIn = async () => {
  const folder = await mkdtemp(join(tmpdir(), "voxledger-alertmanager-"));
  const program = join(folder, "alertmanager");
  await writeFile(program, '#!/bin/sh\ncat "$(echo "$1" | cut -d= -f2)"\n');
  await chmod(program, 0o755);
  return { folder, close: () => rm(folder, { recursive: true }) };
};

describe("Alertmanager in compose.yaml", () => {
  const standIn = duringSuite(openStandIn);

  const startWith = async (receivers: Record<string, string>) => {
    const env = { PATH: `${standIn.folder}:/usr/bin:/bin`, TMPDIR: standIn.folder, ...receivers };
    const { stdout, stderr } = await run("sh", [start], { env });
    const { route, receivers: all } = parse(stdout);
    expect(all.map(({ name }: { name: string }) => name)).to.deep.equal([route.receiver]);
    return { receiver: all[0], stderr };
  };

  it("has no receiver by default, and says so", async () => {
    const { receiver, stderr } = await startWith({});
    expect(receiver).to.deep.equal({ name: "operators" });
    expect(stderr).to.match(/^No receiver is set .*\n$/);
  });

  it("sends to a webhook, to Slack and by e-mail, whatever characters the variables have", async () => {
    const url = "https://hooks.example/it's?a={b}#c";
    const { receiver, stderr } = await startWith({
      ALERT_WEBHOOK_URL: url,
      ALERT_SLACK_URL: "https://hooks.slack.example/T1",
      ALERT_EMAIL: "ops@example.com",
      ALERT_SMTP_HOST: "mail.example:587",
      ALERT_SMTP_USER: "ops",
      ALERT_SMTP_PASSWORD: "p'$x\\",
    });
    expect(receiver.webhook_configs).to.deep.equal([{ url, send_resolved: true }]);
    expect(receiver.slack_configs[0]).to.include({ api_url: "https://hooks.slack.example/T1" });
    expect(receiver.email_configs).to.deep.equal([
      {
        to: "ops@example.com",
        from: "ops@example.com",
        smarthost: "mail.example:587",
        send_resolved: true,
        auth_username: "ops",
        auth_password: "p'$x\\",
      },
    ]);
    expect(stderr).to.equal("");
  });

  it("does not start with an address of e-mail and no server", async () => {
    const started = startWith({ ALERT_EMAIL: "ops@example.com" });
    const message = await started.then(
      () => "",
      ({ stderr }) => stderr,
    );
    expect(message).to.match(/ALERT_SMTP_HOST: ALERT_EMAIL needs it: HOST:PORT\n$/);
  });

  it("gets every variable that its program reads, and infra/env.example names them", () => {
    const names = new Set(
      [...read("alertmanager/start").matchAll(/\$\{?(ALERT_[A-Z_]+)/g)].map(([, name]) => name),
    );
    const { services } = readYaml("compose.yaml") as {
      services: Record<string, { environment?: Record<string, string> }>;
    };
    expect(new Set(Object.keys(services.alertmanager?.environment ?? {}))).to.deep.equal(names);
    expect(namesInEnv(read("env.example"))).to.include.members([...names]);
  });
});
