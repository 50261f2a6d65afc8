import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { admin } from "../support/client.ts";
import { duringTest } from "../support/during.ts";
import { type InProcessService, startError, startInProcessService } from "../support/in-process-service.ts";
import { failToStart, temporaryFolder } from "../support/service.ts";

/** Rules that hold for one process with any stores. */
describe("The settings of the service process", () => {
  const folder = duringTest(temporaryFolder);

  it("does not start with an invalid setting, and names it in one line on standard error", async () => {
    const { code, stdout, stderr } = await failToStart({ PORT: "eighty", DATA_DIR: folder.path });
    expect({ code, stdout, stderr }).to.deep.equal({
      code: 1,
      stdout: "",
      stderr: "voxledger: PORT: must be a whole number\n",
    });
  });

  it("does not start on a port in use, and reports it", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => other.once("listening", resolve));
    const { port } = other.address() as AddressInfo;
    const { code, stderr } = await failToStart({ PORT: String(port), DATA_DIR: folder.path });
    other.close();
    expect(code).to.equal(1);
    expect(stderr).to.match(/^voxledger: PORT: .*EADDRINUSE.*\n$/);
  });

  it("does not start on a port or an address of the Wyoming protocol that it cannot use", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => other.once("listening", resolve));
    const { port } = other.address() as AddressInfo;
    const env = { DATA_DIR: folder.path, WYOMING_KEY: "vlk_k.vls_s" };
    const used = await startError({ ...env, WYOMING_PORT: String(port) });
    other.close();
    expect(used).to.match(/^WYOMING_PORT: .*EADDRINUSE/);
    const unknown = { ...env, WYOMING_PORT: "0", WYOMING_HOST: "no-such-host.invalid" };
    expect(await startError(unknown)).to.match(/^WYOMING_HOST: ./);
  });

  for (const [name, value] of [
    ["EVENT_STORE", "sqlite:/dev/null/x.db"],
    ["AUDIO_STORE", "file:/dev/null/x"],
  ] as const) {
    it(`does not start with ${name}=${value}, and names it in one line on standard error`, async () => {
      const { code, stderr } = await failToStart({ PORT: "0", DATA_DIR: folder.path, [name]: value });
      expect(code).to.equal(1);
      expect(stderr).to.match(new RegExp(`^voxledger: ${name}: [^\\n]+\\n$`));
    });
  }

  for (const [name, value] of [
    ["EVENT_STORE", "sqlite:/proc/x/y.db"],
    ["EVENT_STORE", "sqlite:/dev"],
    ["AUDIO_STORE", "file:/proc/x/y"],
    ["DATA_DIR", "/dev/null"],
    ["DATA_DIR", "/proc/x"],
    ["HOST", "no-such-host.invalid"],
  ] as const) {
    it(`does not start with ${name}=${value}, and names it`, async () => {
      const error = await startError({ DATA_DIR: folder.path, [name]: value });
      expect(error).to.match(new RegExp(`^${name}: .`));
    });
  }

  it("reports a failed shutdown in one line, and exits with 1", async () => {
    const ending = spawn(process.execPath, ["test/support/failing-shutdown.ts"], { stdio: "pipe" });
    const stderr: string[] = [];
    ending.stderr.on("data", (chunk) => stderr.push(String(chunk)));
    await once(ending.stdout, "data");
    ending.kill("SIGTERM");
    const [code] = await once(ending, "close");
    expect(code).to.equal(1);
    expect(stderr.join("")).to.equal("voxledger: the lock is held (by another)\n");
  });
});

describe("The service with its settings", () => {
  let service: InProcessService;
  const start = async (env: Record<string, string> = {}): Promise<void> => {
    service = await startInProcessService(env);
  };
  afterEach(() => service.close());

  it("has no admin API without an admin token", async () => {
    await start({ ADMIN_TOKEN: "" });
    expect((await admin(service.url, "GET", "/keys")).status).to.equal(404);
  });
});
