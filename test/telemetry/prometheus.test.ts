import { expect } from "chai";
import { listenForMetrics } from "../../src/telemetry/metrics-server.ts";
import { duringTest } from "../support/during.ts";

describe("the metrics listener", () => {
  const listener = duringTest(() => listenForMetrics({ host: "127.0.0.1", port: 0 }, () => read()));
  let read: () => Promise<string>;

  it("responds 503 while collection fails, and 200 afterwards", async () => {
    read = () => Promise.reject(new Error("not now"));
    expect((await fetch(listener.url)).status).to.equal(503);
    read = async () => "up 1\n";
    const response = await fetch(listener.url);
    expect([response.status, await response.text()]).to.deep.equal([200, "up 1\n"]);
  });

  it("has nothing under another address, and takes nothing", async () => {
    read = async () => "";
    expect((await fetch(new URL("/", listener.url))).status).to.equal(404);
    expect((await fetch(listener.url, { method: "POST" })).status).to.equal(405);
  });
});
