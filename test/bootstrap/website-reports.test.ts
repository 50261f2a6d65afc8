import { expect } from "chai";
import { pino } from "pino";
import type { View } from "../../projections/runner/view.ts";
import { reportModelRetirements, reportRefusedServers } from "../../src/bootstrap/website-reports.ts";
import {
  type Credentials,
  credentialsDecider,
  credentialsStream,
} from "../../src/domain/accounts/credentials.ts";
import {
  addWebhook,
  type Webhooks,
  webhooksDecider,
  webhooksStream,
} from "../../src/domain/webhooks/webhooks.ts";
import { openAiProvider } from "../../src/engines/openai/provider.ts";
import type { Exchange } from "../../src/engines/provider-http/exchange.ts";
import { openCredentialsInstance, operator } from "../support/credentials-instance.ts";
import { testCipher } from "../support/webhooks-instance.ts";

const at = "2026-11-05T10:00:00.000Z";
const cipher = testCipher(Buffer.alloc(32, 7));

const viewOf = <S>(partitions: Map<string, S>): View<S> => ({
  get: (name) => partitions.get(name),
  entries: () => partitions.entries(),
  size: partitions.size,
});

const credentialsOf = (websiteId: string, given: object, by = cipher): [string, Credentials] => {
  const encrypted = by.encrypt(JSON.stringify(given), { websiteId, engine: "oai" });
  const data = { engine: "oai", provider: "openai", voices: [], ...encrypted, at } as const;
  const { initial, evolve } = credentialsDecider;
  return [credentialsStream(websiteId), evolve(initial(), { type: "CredentialsSet", data })];
};

const webhooksOf = (...urls: string[]): View<Webhooks> => {
  const { initial, evolve } = webhooksDecider;
  const all = urls.reduce((state, url, index) => {
    const webhookId = `whk_${index}`;
    const secret = cipher.encrypt("s", { webhookId });
    const added = { webhookId, url, events: ["key.suspended"], ...secret, at } as const;
    return addWebhook(state, added).reduce(evolve, state);
  }, initial());
  return viewOf(new Map([[webhooksStream, all]]));
};

describe("the report of refused servers at start", () => {
  const credentials = viewOf(
    new Map([
      credentialsOf("web_1", { apiKey: "sk-secret-key", baseUrl: "https://10.0.0.7:8443/secret-path/v1" }),
      credentialsOf("web_2", { apiKey: "sk-secret-key", baseUrl: "https://93.184.216.34/v1" }),
      credentialsOf("web_3", { apiKey: "sk-secret-key" }),
      credentialsOf("web_4", { apiKey: "k", baseUrl: "https://10.0.0.8/" }, testCipher(Buffer.alloc(32, 8))),
    ]),
  );
  const webhooks = webhooksOf("https://[fd00::7]/hook", "https://169.254.169.254/", "http://127.0.0.1:9/");

  const report = async (networks: string[], allowLoopback = false) => {
    const lines: string[] = [];
    const log = pino({ level: "info" }, { write: (line) => void lines.push(line) });
    const { signal } = new AbortController();
    await reportRefusedServers(
      { credentials, webhooks, cipher },
      { allowLoopback, networks },
      { log, signal },
    );
    return lines.map((line) => JSON.parse(line));
  };

  it("names those in private networks, with the line that allows them, and no secret", async () => {
    const [line, ...others] = await report(["192.168.0.0/16"]);
    expect(others).to.deep.equal([]);
    expect(line.msg).to.equal(
      "2 servers of websites and webhooks are in private networks and refused. To allow them, set ALLOW_UPSTREAM_NETWORKS=192.168.0.0/16,10.0.0.7/32,fd00::7/128",
    );
    expect(line.refused).to.deep.equal(["the credentials of web_1 for oai", "the webhook whk_0"]);
    expect(JSON.stringify(line)).to.not.include("secret");
  });

  it("logs nothing when the networks are allowed", async () => {
    expect(await report(["192.168.0.0/16", "10.0.0.7/32", "fd00::7/128"])).to.deep.equal([]);
  });
});

describe("a model that ends, in the credentials of websites", () => {
  const voices = ["alloy"];
  const models: Exchange = async ({ url }) => ({
    status: 200,
    headers: {},
    body: (async function* () {
      yield Buffer.from(JSON.stringify({ data: [], of: url.hostname }));
    })(),
  });
  const oai = openAiProvider({ baseUrl: "https://api.openai.com", operators: models, websites: models });

  it("is named when the credentials are set, in lists of credentials, and in the log, without the key", async () => {
    const instance = await openCredentialsInstance({ providers: { oai } });
    try {
      const { credentials } = instance;
      const set = async (more: object) => {
        const website = await instance.aWebsite();
        const given = { apiKey: "sk-secret-of-nobody", voices, ...more };
        return { website, details: await credentials.set(website, "oai", given, operator) };
      };
      const all = [
        await set({}),
        await set({ model: "tts-1" }),
        await set({ model: "gpt-realtime-2.1-mini" }),
        await set({ model: "tts-1", baseUrl: "https://tts.example/v1" }),
      ];
      expect(all.map(({ details }) => details.retirement?.model)).to.deep.equal([
        ...["gpt-4o-mini-tts", "tts-1", undefined, undefined],
      ]);
      for (const { website, details } of all)
        expect(await credentials.list(website)).to.deep.equal([details]);
      const listed = await credentials.listAll();
      expect(listed.filter(({ retirement }) => retirement)).to.have.length(2);

      const lines: unknown[][] = [];
      const log = { warn: (...line: unknown[]) => void lines.push(line) };
      const view = instance.view;
      reportModelRetirements(
        { credentials: view, cipher: instance.sealing, providers: { oai } },
        log,
        Date.parse("2026-11-26T12:00:00Z"),
      );
      expect(lines).to.have.length(2);
      expect(JSON.stringify(lines)).to.include(all[0]?.website).and.not.include("sk-secret");
      expect(lines[0]?.[1]).to.match(/^The model gpt-4o-mini-tts stops working on 2027-01-06: .* 1 website/);
    } finally {
      await instance.close();
    }
  });

  it("is not named by a process that cannot open the credentials", async () => {
    const instance = await openCredentialsInstance({ providers: { oai } });
    try {
      const website = await instance.aWebsite();
      await instance.credentials.set(website, "oai", { apiKey: "sk-secret-of-nobody", voices }, operator);
      const other = await openCredentialsInstance({
        ...{ folder: instance.folder, keys: [Buffer.alloc(32, 8)], providers: { oai } },
      });
      const [details] = await other.credentials.list(website);
      expect(details).to.include({ engine: "oai" }).and.not.have.property("retirement");
      await other.close();
    } finally {
      await instance.close();
    }
  });
});
