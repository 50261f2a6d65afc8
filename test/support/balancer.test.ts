import { expect } from "chai";
import { openBalancer } from "./balancer.ts";
import { serveLocally } from "./local-server.ts";

describe("the balancer", () => {
  it("sends each request to the next service in turn", async () => {
    const one = await serveLocally((_, res) => void res.end("one"));
    const other = await serveLocally((_, res) => void res.end("other"));
    await using balancer = await openBalancer([one.url, other.url]);
    const responses: string[] = [];
    for (let attempt = 0; attempt < 4; attempt++) responses.push(await (await fetch(balancer.url)).text());
    expect(responses).to.deep.equal(["one", "other", "one", "other"]);
    await Promise.all([one.close(), other.close()]);
  });

  it("passes on a response that is sent before the request was read, and serves the next request on the same connection", async () => {
    const service = await serveLocally((_, res) => void res.writeHead(413).end("too large"));
    await using balancer = await openBalancer([service.url]);
    for (let attempt = 0; attempt < 20; attempt++) {
      const response = await fetch(balancer.url, { method: "PUT", body: "x".repeat(2 ** 20) });
      expect([response.status, await response.text()]).to.deep.equal([413, "too large"]);
    }
    await service.close();
  });

  it("cuts the response when the service cuts it", async () => {
    const service = await serveLocally((_, res) => {
      res.writeHead(200, { "Content-Length": 10 });
      res.write("half", () => res.destroy());
    });
    await using balancer = await openBalancer([service.url]);
    const outcome = await fetch(balancer.url)
      .then(async (response) => response.text())
      .catch((error: unknown) => error);
    expect(outcome).to.be.instanceOf(TypeError);
    await service.close();
  });
});
