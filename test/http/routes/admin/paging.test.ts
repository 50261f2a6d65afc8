import { expect } from "chai";
import { admin, registerWebsite } from "../../../support/client.ts";
import { duringSuite } from "../../../support/during.ts";
import { ask, startInProcessService } from "../../../support/in-process-service.ts";

describe("the lists of the admin API", () => {
  const service = duringSuite(startInProcessService);
  before(async () => {
    for (let i = 0; i < 5; i++) await registerWebsite(service.url);
  });

  type Listed = { count: number; _links: { next?: { href: string } } } & Record<string, unknown[]>;
  const list = async (path: string) => (await admin(service.url, "GET", path)).body as unknown as Listed;

  /** All pages, by their links. */
  const pages = async (path: string): Promise<Listed[]> => {
    const all: Listed[] = [];
    for (let next: string | undefined = path; next; ) {
      const page = await list(next);
      all.push(page);
      const { href } = page._links.next ?? {};
      const address = href === undefined ? undefined : new URL(href, `http://proxy.example/prefix${path}`);
      next = address && address.pathname.replace(/^\/prefix/, "") + address.search;
    }
    return all;
  };

  for (const [path, name] of [
    ["/websites", "websites"],
    ["/keys", "keys"],
  ] as const) {
    it(`have the same entries in pages as in one response, in a stable order: ${path}`, async () => {
      const whole = await list(path);
      expect([whole.count, whole._links]).to.deep.equal([5, {}]);
      const parts = await pages(`${path}?limit=2`);
      expect(parts.map(({ count }) => count)).to.deep.equal([2, 2, 1]);
      expect(parts.flatMap((part) => part[name])).to.deep.equal(whole[name]);
    });
  }

  it("contain voices with their system voices, and all system voices", async () => {
    const { voices } = await list("/voices?limit=1000");
    const parts = await pages("/voices?limit=30");
    expect(parts.flatMap((part) => part.voices)).to.deep.equal(voices);
    for (const part of parts) {
      const needed = new Set((part.voices as { voiceIDs: number[] }[]).flatMap(({ voiceIDs }) => voiceIDs));
      expect(new Set((part.systemVoices as { id: number }[]).map(({ id }) => id))).to.deep.equal(needed);
    }
    const { systemVoices } = await list("/system-voices?limit=1000");
    const all = (await pages("/system-voices?limit=100")).flatMap((part) => part.systemVoices);
    expect(all.slice(0, 1_000)).to.deep.equal(systemVoices);
  });

  it("have the page limits in the OpenAPI document", async () => {
    const { paths } = JSON.parse((await ask(`${service.url}/openapi.json`)).text);
    for (const path of ["/admin/websites", "/admin/keys", "/admin/voices", "/admin/system-voices"]) {
      const { parameters } = paths[path].get;
      const { schema } = parameters.find(({ name }: { name: string }) => name === "limit");
      expect(schema, path).to.include({ type: "integer", minimum: 1, maximum: 1_000, default: 500 });
    }
  });

  it("refuse a limit out of range and an unknown `after`", async () => {
    for (const query of [
      "limit=0",
      "limit=1001",
      "limit=1.5",
      "limit=x",
      "limit=",
      "limit=1&limit=2",
      "after=",
    ]) {
      const { status } = await admin(service.url, "GET", `/keys?${query}`);
      expect(status, query).to.equal(400);
    }
    const { status, body } = await admin(service.url, "GET", "/keys?after=vlk_none");
    expect(status).to.equal(400);
    expect(JSON.stringify(body)).to.include('"path":["after"]');
  });
});

describe("Allow", () => {
  it("names exactly the methods of the path in the OpenAPI document, and HEAD with GET", async () => {
    const service = await startInProcessService();
    try {
      const { paths } = JSON.parse((await ask(`${service.url}/openapi.json`)).text);
      for (const [template, operations] of Object.entries(paths) as [string, object][]) {
        const path = template.replace("{object}", "none.mp3").replaceAll(/\{\w+\}/g, "1");
        const { status, headers } = await ask(service.url + path, { method: "COPY" });
        expect(status, template).to.equal(405);
        const described = Object.keys(operations).map((method) => method.toUpperCase());
        const expected = new Set([...described, ...(described.includes("GET") ? ["HEAD"] : [])]);
        expect(headers.allow?.split(", "), template).to.have.members([...expected]);
      }
    } finally {
      await service.close();
    }
  });
});
