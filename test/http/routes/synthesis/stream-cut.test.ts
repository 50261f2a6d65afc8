import { once } from "node:events";
import { connect } from "node:net";
import { expect } from "chai";
import { admin, authorize, registerWebsite } from "../../../support/client.ts";
import { duringSuite } from "../../../support/during.ts";
import { startInProcessService } from "../../../support/in-process-service.ts";
import { rejection } from "../../../support/rejection.ts";
import { goodCredentials, serveProviders } from "../../../support/wire/providers.ts";

describe("streamed audio that fails", () => {
  const providers = duringSuite(serveProviders);
  const service = duringSuite(() => startInProcessService(providers.env));
  const website = duringSuite(() => registerWebsite(service.url));
  let texts = 0;

  before(async () => {
    await admin(service.url, "PUT", `/websites/${website.id}/credentials/oai`, goodCredentials.oai);
  });

  /** Everything received on a new connection. @throws if the connection is reset */
  const askFor = async (version: "1.0" | "1.1"): Promise<string> => {
    const body = JSON.stringify({ voice: "alloy", text: `This is number ${++texts}, and it is cut.` });
    const head = {
      Host: "localhost",
      ...authorize(website),
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(body),
      Accept: "text/event-stream",
      Connection: "close",
    };
    const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    await once(socket, "connect");
    socket.write(`POST /v2/text/synthesize HTTP/${version}\r\n${lines.join("")}\r\n${body}`);
    return Buffer.concat(await socket.toArray()).toString("latin1");
  };

  it("lacks its last chunk over HTTP/1.1", async () => {
    providers.oai.faults.next({ kind: "cut" });
    const response = await askFor("1.1");
    expect(response).to.match(/^HTTP\/1.1 200 /);
    expect(response.endsWith("\r\n0\r\n\r\n")).to.equal(false);
  });

  it("resets the connection over HTTP/1.0, where the end of the connection is the end of the body", async () => {
    expect(await askFor("1.0")).to.match(/^HTTP\/1.1 200 /);
    providers.oai.faults.next({ kind: "cut" });
    expect(await rejection(askFor("1.0"))).to.include({ code: "ECONNRESET" });
  });
});
