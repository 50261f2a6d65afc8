import { expect } from "chai";
import { admin, authorize, registerWebsite } from "../../../support/client.ts";
import { duringSuite } from "../../../support/during.ts";
import { ask, startInProcessService } from "../../../support/in-process-service.ts";
import { adminToken } from "../../../support/service.ts";

const klaus = { name: "Klaus", flag: "de", gender: "m", lang: "de-DE", voiceIDs: [301] };

describe("the admin API of voices", () => {
  const service = duringSuite(startInProcessService);
  const website = duringSuite(() => registerWebsite(service.url));

  const operate = (method: string, path: string, body?: object) => admin(service.url, method, path, body);
  const readVoices = async (path: string) => {
    const { status, text } = await ask(service.url + path, { headers: authorize(website) });
    return { status, body: JSON.parse(text) };
  };
  const pathsOf = (body: Record<string, unknown>) =>
    (body.error as { errors: { path: unknown[] }[] }).errors.map(({ path }) => path.join("."));

  it("adds a voice with 201 and Location, visible from the next request on", async () => {
    const response = await fetch(`${service.url}/admin/voices`, {
      method: "POST",
      headers: { Authorization: `Bearer ${adminToken}`, "Content-Type": "application/json" },
      body: JSON.stringify({ ...klaus, name: "Klaus the 1st" }),
    });
    expect([response.status, response.headers.get("location")]).to.deep.equal([
      201,
      "/admin/voices/Klaus%20the%201st",
    ]);
    expect(await response.json()).to.deep.equal({ ...klaus, name: "Klaus the 1st" });
    expect((await operate("GET", "/voices/Klaus%20the%201st")).body).to.include({ lang: "de-DE" });
    expect((await readVoices("/v2/voices/Klaus%20the%201st")).body.voice).to.include({ flag: "de" });
  });

  it("lists voices and system voices", async () => {
    const { status, body } = await operate("GET", "/voices");
    expect([status, body.count]).to.deep.equal([200, (body.voices as unknown[]).length]);
    expect(body.systemVoices).to.be.an("array").that.is.not.empty;
  });

  it("changes the given members of a voice", async () => {
    await operate("POST", "/voices", { ...klaus, name: "Changing" });
    const { status, body } = await operate("PATCH", "/voices/Changing", { flag: "at", voiceIDs: [303] });
    expect([status, body]).to.deep.equal([200, { ...klaus, name: "Changing", flag: "at", voiceIDs: [303] }]);
    expect((await readVoices("/v2/voices/Changing")).body.voice).to.deep.equal(body);
  });

  it("deprecates a voice, which is marked and still usable", async () => {
    await operate("POST", "/voices", { ...klaus, name: "Old" });
    for (let i = 0; i < 2; i++) {
      const { status, body } = await operate("DELETE", "/voices/Old");
      expect([status, body.deprecated]).to.deep.equal([200, true]);
    }
    expect((await readVoices("/v2/voices/Old")).body.voice.deprecated).to.equal(true);
    const speech = await ask(`${service.url}/v2/text/synthesize?voice=Old&text=Hallo.`, {
      headers: authorize(website),
    });
    expect(speech.status).to.equal(200);
    expect((await operate("PATCH", "/voices/Old", { deprecated: false })).body.deprecated).to.equal(false);
  });

  it("adds system voices with assigned ids, and deprecates them", async () => {
    const given = { name: "g1-de-whisper", lang: "de-DE", service: "g1", voiceName: "espeak:gmw/de+whisper" };
    const { status, body } = await operate("POST", "/system-voices", given);
    expect(status).to.equal(201);
    expect(body).to.deep.include(given);
    expect(body.id).to.be.at.least(100_000);
    await operate("POST", "/voices", { ...klaus, name: "Whisperer", voiceIDs: [body.id] });
    const { body: list } = await readVoices("/v2/voices");
    expect(list.systemVoices).to.deep.include(body);
    const deprecated = await operate("DELETE", `/system-voices/${body.id}`);
    expect([deprecated.status, deprecated.body.deprecated]).to.deep.equal([200, true]);
    expect((await operate("POST", "/system-voices", given)).status).to.equal(409);
  });

  it("returns 400 with the path of every problem", async () => {
    const wrong = await operate("POST", "/voices", {
      ...klaus,
      name: "a/b",
      gender: "x",
      voiceIDs: [],
      more: 1,
    });
    expect(wrong.status).to.equal(400);
    expect(pathsOf(wrong.body)).to.have.members(["name", "gender", "voiceIDs", "more"]);
    const unknown = await operate("POST", "/voices", { ...klaus, name: "New", voiceIDs: [301, 5] });
    expect([unknown.status, pathsOf(unknown.body)]).to.deep.equal([400, ["voiceIDs.1"]]);
    for (const body of [undefined, {}]) {
      const empty = await operate("PATCH", "/voices/German%20Male", body);
      expect(empty.status).to.equal(400);
      expect(empty.body.error).to.include({ code: "VALIDATION_ERROR" });
    }
    const renamed = await operate("PATCH", "/voices/German%20Male", { name: "Other", lang: "nonsense!" });
    expect([renamed.status, pathsOf(renamed.body)]).to.deep.equal([400, ["lang", "name"]]);
    const id = await operate("POST", "/system-voices", { id: 7, name: "mine" });
    expect([id.status, pathsOf(id.body)]).to.deep.equal([400, ["id"]]);
    expect((await operate("DELETE", "/system-voices/first")).status).to.equal(400);
    expect((await operate("POST", "/voices")).status).to.equal(400);
  });

  it("returns 409 for an existing name and 404 for an unknown one", async () => {
    expect((await operate("POST", "/voices", { ...klaus, name: "German Male" })).status).to.equal(409);
    for (const [method, path, body] of [
      ["GET", "/voices/nobody"],
      ["PATCH", "/voices/nobody", { flag: "at" }],
      ["DELETE", "/voices/nobody"],
      ["DELETE", "/system-voices/99999"],
    ] as const) {
      expect((await operate(method, path, body)).status, `${method} ${path}`).to.equal(404);
    }
  });

  it("is only for the operator", async () => {
    const { status } = await ask(`${service.url}/admin/voices`, { headers: authorize(website) });
    expect(status).to.equal(401);
  });
});
