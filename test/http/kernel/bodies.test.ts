import { execFile } from "node:child_process";
import { connect } from "node:net";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { admin, authorize, type Credentials, errorOf, registerWebsite } from "../../support/client.ts";
import { sendBytes } from "../../support/exchange.ts";
import { type ServedHere, serveHere } from "../../support/served-here.ts";
import { adminToken } from "../../support/service.ts";

const hello = JSON.stringify({ voice: "UK English Female", text: "Hello", volume: 0 });

/** The status and the error of an answer as it came over the wire. */
const readAnswer = (answer: string) => {
  const [head = "", body = ""] = answer.split("\r\n\r\n");
  return { status: Number(head.split(" ")[1]), head: head.toLowerCase(), error: JSON.parse(body).error };
};

describe("a request's body", () => {
  let service: ServedHere;
  let website: Credentials;

  before(async () => {
    service = await serveHere();
    website = await registerWebsite(service.url);
  });
  after(() => service.close());

  const post = (body: string | Buffer, headers: Record<string, string> = {}) =>
    fetch(`${service.url}/v2/text/synthesize`, {
      method: "POST",
      headers: { ...authorize(website), "Content-Type": "application/json", ...headers },
      body: new Uint8Array(Buffer.from(body)),
    });

  for (const coding of ["gzip", "br", "deflate", "zstd"]) {
    it(`is refused with 400 under Content-Encoding ${coding}, whether it is that or not`, async () => {
      for (const body of [hello, gzipSync(hello)]) {
        const response = await post(body, { "Content-Encoding": coding });
        expect(response.status).to.equal(400);
        expect(await errorOf(response)).to.include({ code: "VALIDATION_ERROR" });
      }
    });
  }

  it("is taken under Content-Encoding identity, and under every JSON type", async () => {
    for (const headers of [
      { "Content-Encoding": "identity" },
      { "Content-Type": "application/json; charset=utf-8" },
      { "Content-Type": "application/vnd.example+json" },
    ]) {
      expect((await post(hello, headers as Record<string, string>)).status).to.equal(204);
    }
  });

  it("is refused with 400 when it is not UTF-8", async () => {
    const response = await post(Buffer.from(hello.replace("Hello", "caf\xe9"), "latin1"));
    expect(response.status).to.equal(400);
    expect(await errorOf(response)).to.include({ code: "VALIDATION_ERROR" });
  });

  it("is required of PUT: nothing replaces nothing", async () => {
    const path = `/websites/${website.id}`;
    await admin(service.url, "PUT", `${path}/config`, { voice: { rate: 1.5 } });
    for (const length of [{}, { "Content-Length": "0" }] as Record<string, string>[]) {
      const headers = { Authorization: `Bearer ${adminToken}`, ...length };
      const response = await fetch(`${service.url}/admin${path}/config`, { method: "PUT", headers });
      expect(response.status).to.equal(400);
      expect(await errorOf(response)).to.include({ code: "VALIDATION_ERROR" });
    }
    const { body } = await admin(service.url, "GET", path);
    expect(body.config).to.have.nested.property("voice.rate", 1.5);
  });

  it("may be too large: a real client that sends all of it reads the 413", async () => {
    const { stdout } = await promisify(execFile)("bash", [
      "-c",
      `head -c 3000000 /dev/zero | curl --silent --show-error --max-time 20 --data-binary @- --header Expect: \
        --header 'Content-Type: application/json' --header 'X-API-Key: ${website.apiKey}' \
        --header 'X-API-Secret: ${website.apiSecret}' ${service.url}/v2/text/synthesize`,
    ]);
    expect(JSON.parse(stdout).error).to.include({ statusCode: 413, code: "PAYLOAD_TOO_LARGE" });
  });

  const headOf = (more: string) =>
    `POST /v2/text/synthesize HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n` +
    `X-API-Key: ${website.apiKey}\r\nX-API-Secret: ${website.apiSecret}\r\n${more}\r\n\r\n`;

  it("may be too large: one that reads only after its last byte reads the 413 too", async () => {
    const answer = await sendBytes(
      service.url,
      `${headOf("Content-Length: 3000000")}${" ".repeat(3_000_000)}`,
    );
    const { status, head, error } = readAnswer(answer);
    expect(status).to.equal(413);
    expect(head).to.match(/\r\nx-request-id: [0-9a-f-]{36}/);
    expect(error).to.include({ code: "PAYLOAD_TOO_LARGE" });
  });

  it("is not read without end: the connection is closed on one that goes on for ever", async () => {
    const { hostname, port } = new URL(service.url);
    const socket = connect({ host: hostname, port: Number(port) });
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.on("error", () => {}).resume();
    const chunk = `10000\r\n${" ".repeat(65_536)}\r\n`;
    const pump = (): void => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.on("drain", pump);
    socket.write(headOf("Transfer-Encoding: chunked"));
    pump();
    await closed;
    expect(socket.bytesWritten).to.be.below(128 * 1024 * 1024);
  });
});
