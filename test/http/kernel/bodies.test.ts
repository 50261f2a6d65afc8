import { execFile } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { connect } from "node:net";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { pino } from "pino";
import { admin, authorize, type Credentials, errorOf, registerWebsite } from "../../support/client.ts";
import { sendBytes } from "../../support/exchange.ts";
import { type InProcessService, startInProcessService } from "../../support/in-process-service.ts";
import { adminToken } from "../../support/service.ts";

const hello = JSON.stringify({ voice: "UK English Female", text: "Hello", volume: 0 });

/** The status, head and error of a response in its wire format. */
const readResponse = (response: string) => {
  const [head = "", body = ""] = response.split("\r\n\r\n");
  return { status: Number(head.split(" ")[1]), head: head.toLowerCase(), error: JSON.parse(body).error };
};

describe("a request's body", () => {
  let service: InProcessService;
  let website: Credentials;
  const lines = new EventEmitter<{ line: [{ level: number; msg: string; status?: number }] }>();

  before(async () => {
    const log = pino(
      { level: "info" },
      { write: (line: string) => void lines.emit("line", JSON.parse(line)) },
    );
    service = await startInProcessService({}, log);
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
    it(`is refused with 400 with Content-Encoding ${coding}, whatever its bytes are`, async () => {
      for (const body of [hello, gzipSync(hello)]) {
        const response = await post(body, { "Content-Encoding": coding });
        expect(response.status).to.equal(400);
        expect(await errorOf(response)).to.include({ code: "VALIDATION_ERROR" });
      }
    });
  }

  it("is required for PUT, and empty for POST, if there is none; the connection stays usable", async () => {
    const lines = (head: string, headers: Record<string, string>): string =>
      [head, "Host: x", ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`), "", ""].join(
        "\r\n",
      );
    const authorization = { Authorization: `Bearer ${adminToken}` };
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    socket.write(
      lines(`PUT /admin/websites/${website.id}/config HTTP/1.1`, authorization) +
        lines("POST /v2/text/synthesize HTTP/1.1", {
          ...authorize(website),
          "Content-Type": "application/json",
        }) +
        lines("GET /health HTTP/1.1", { Connection: "close" }),
    );
    const responses = String(Buffer.concat(await socket.toArray()));
    expect(responses.match(/HTTP\/1\.1 \d+/g)).to.deep.equal([
      "HTTP/1.1 400",
      "HTTP/1.1 400",
      "HTTP/1.1 200",
    ]);
    expect(responses).to.include("A body is required.");
    expect(responses).to.include('"path":["text"]');
  });

  it("is accepted with Content-Encoding identity, and with every JSON media type", async () => {
    for (const headers of [
      { "Content-Encoding": "identity" },
      { "Content-Type": "application/json; charset=utf-8" },
      { "Content-Type": "application/vnd.example+json" },
    ]) {
      expect((await post(hello, headers as Record<string, string>)).status).to.equal(204);
    }
  });

  it("is refused with 400 if it is not UTF-8", async () => {
    const response = await post(Buffer.from(hello.replace("Hello", "caf\xe9"), "latin1"));
    expect(response.status).to.equal(400);
    expect(await errorOf(response)).to.include({ code: "VALIDATION_ERROR" });
  });

  it("is required by PUT", async () => {
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

  it("is logged as 499, without an error, if the client disconnects before its end", async () => {
    const { hostname, port } = new URL(service.url);
    const socket = connect({ host: hostname, port: Number(port) });
    await once(socket, "connect");
    socket.write(`${headOf("Content-Length: 100")}{"text"`, () => socket.destroy());
    const [{ level, msg, status }] = await once(lines, "line");
    expect({ level: pino.levels.labels[level], msg, status }).to.deep.equal({
      level: "info",
      msg: "request",
      status: 499,
    });
  });

  for (const [problem, body] of [
    ["malformed JSON", "{"],
    ["a JSON string", '"text"'],
    ["null", "null"],
    ["a member named __proto__", '{"text": "x", "lang": "en-GB", "__proto__": {"volume": 0}}'],
  ] as const) {
    it(`is refused with 400 if it is ${problem}`, async () => {
      const response = await post(body);
      expect(response.status).to.equal(400);
      expect(await errorOf(response)).to.include({ code: "VALIDATION_ERROR" });
    });
  }

  it("gets a 413 that curl can read if it is too large", async () => {
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

  it("gets a 413 that a client can read after it has sent a body that is too large", async () => {
    const response = await sendBytes(
      service.url,
      `${headOf("Content-Length: 3000000")}${" ".repeat(3_000_000)}`,
    );
    const { status, head, error } = readResponse(response);
    expect(status).to.equal(413);
    expect(head).to.match(/\r\nx-request-id: [0-9a-f-]{36}/);
    expect(error).to.include({ code: "PAYLOAD_TOO_LARGE" });
  });

  it("is not read without limit: the connection is closed if it never ends", async () => {
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
