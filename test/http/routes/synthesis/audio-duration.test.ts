import { expect } from "chai";
import { authorize, registerWebsite } from "../../../support/client.ts";
import { duringSuite } from "../../../support/during.ts";
import { ask, startInProcessService } from "../../../support/in-process-service.ts";

describe("X-Audio-Duration", () => {
  const service = duringSuite(startInProcessService);
  const website = duringSuite(() => registerWebsite(service.url));

  const synthesize = (query: Record<string, string>, method = "GET", headers = {}) =>
    ask(`${service.url}/v2/text/synthesize?${new URLSearchParams(query)}`, {
      method,
      headers: { ...authorize(website), ...headers },
    });

  for (const query of [
    { text: "Nine o'clock.", lang: "en-GB" },
    { text: "Bore da.", lang: "cy-GB" },
  ]) {
    it(`is the duration of the whole audio on every response with audio: ${query.lang}`, async () => {
      const first = await synthesize(query);
      const duration = first.headers["x-audio-duration"];
      expect(duration).to.match(/^\d\.\d{3}$/);
      expect(Number(duration)).to.be.within(0.3, 3);
      const object = service.url + first.headers["content-location"];
      for (const [status, response] of [
        [200, await synthesize(query)],
        [206, await synthesize(query, "GET", { Range: "bytes=0-9" })],
        [200, await synthesize(query, "HEAD")],
        [200, await ask(object)],
        [206, await ask(object, { headers: { Range: "bytes=0-9" } })],
        [200, await ask(object, { method: "HEAD" })],
      ] as const) {
        expect([response.status, response.headers["x-audio-duration"]]).to.deep.equal([status, duration]);
        expect(response.headers["access-control-expose-headers"]).to.include("X-Audio-Duration");
      }
    });
  }

  it("is absent for silence, and for HEAD if the audio does not exist", async () => {
    const silence = await synthesize({ text: "x", lang: "en-GB", volume: "0" });
    expect([silence.status, silence.headers["x-audio-duration"]]).to.deep.equal([204, undefined]);
    const unknown = await synthesize({ text: "Never spoken.", lang: "en-GB" }, "HEAD");
    expect([unknown.status, unknown.headers["x-audio-duration"]]).to.deep.equal([200, undefined]);
  });
});
