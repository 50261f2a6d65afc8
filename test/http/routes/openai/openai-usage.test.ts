import { expect } from "chai";
import OpenAI from "openai";
import { admin, authorize, type Credentials, registerWebsite } from "../../../support/client.ts";
import { duringSuite } from "../../../support/during.ts";
import { ask, startInProcessService } from "../../../support/in-process-service.ts";
import { adminToken } from "../../../support/service.ts";

const auditorToken = "an-auditor's-token-for-tests";
const path = "/openai/v1/organization/usage/audio_speeches";
/** The day on which the service's clock stands. */
const today = Date.parse("2026-11-05T00:00:00Z") / 1_000;

describe(`GET ${path}`, () => {
  const service = duringSuite(() => startInProcessService({ AUDITOR_TOKEN: auditorToken }));
  const one = duringSuite(() => registerWebsite(service.url));
  const other = duringSuite(() => registerWebsite(service.url));

  before(async () => {
    await speak(one, "The train leaves at nine.");
    await speak(one, "The train leaves at ten.");
    await speak(other, "Bore da", "cy-GB");
  });

  const speak = async (website: Credentials, text: string, lang = "en-GB") => {
    const url = `${service.url}/v2/text/synthesize?${new URLSearchParams({ lang, text })}`;
    expect((await ask(url, { headers: authorize(website) })).status).to.equal(200);
  };
  const get = async (query: string, token: string) => {
    const headers = { Authorization: `Bearer ${token}` };
    const response = await ask(`${service.url}${path}?${query}`, { headers });
    return { ...response, body: JSON.parse(response.text) };
  };
  const tokenOf = ({ apiKey, apiSecret }: Credentials): string => `${apiKey}.${apiSecret}`;
  const result = { object: "organization.usage.audio_speeches.result", user_id: null };

  it("reports all keys to operators and auditors, in OpenAI's shape", async () => {
    for (const token of [adminToken, auditorToken]) {
      const { status, headers, body } = await get(`start_time=${today}`, token);
      expect([status, headers["cache-control"]]).to.deep.equal([200, "no-store"]);
      expect(body).to.deep.equal({
        object: "page",
        data: [
          {
            object: "bucket",
            start_time: today,
            end_time: today + 86_400,
            results: [
              {
                ...result,
                characters: 56,
                num_model_requests: 3,
                project_id: null,
                api_key_id: null,
                model: null,
              },
            ],
          },
        ],
        has_more: false,
        next_page: null,
        as_of: service.time.now / 1_000,
      });
    }
  });

  it("groups and filters by lists, as OpenAI's clients and its reference write them", async () => {
    const expected = [
      { ...result, characters: 49, num_model_requests: 2, project_id: one.id, api_key_id: one.apiKey },
    ];
    for (const lists of [
      `group_by[]=api_key_id&group_by[]=project_id&api_key_ids[]=${one.apiKey}`,
      `group_by=api_key_id&group_by=project_id&api_key_ids=${one.apiKey}`,
      `group_by[]=api_key_id&group_by[]=project_id&project_ids=${one.id}`,
    ]) {
      const { body } = await get(`start_time=${today}&${lists}`, adminToken);
      expect(body.data[0].results).to.deep.equal(expected.map((row) => ({ ...row, model: null })));
    }
    const { body } = await get(`start_time=${today}&user_ids[]=u`, adminToken);
    expect(body.data[0].results).to.deep.equal([]);
  });

  it("reports a key's own usage to the key, as the other reports do", async () => {
    const { body } = await get(`start_time=${today}&group_by=model&api_key_ids=`, tokenOf(other));
    expect(body.data[0].results).to.deep.equal([]);
    const own = await get(`start_time=${today}&group_by[]=api_key_id`, tokenOf(other));
    const report = await admin(service.url, "GET", `/keys/${other.apiKey}/usage`);
    const [row] = own.body.data[0].results;
    expect(row).to.include({ api_key_id: other.apiKey, characters: report.body.characters });
    expect(own.body.data[0].results).to.have.length(1);
  });

  it("is read by OpenAI's own client, unmodified", async () => {
    const { admin: client } = new OpenAI({
      baseURL: `${service.url}/openai/v1`,
      apiKey: tokenOf(one),
      adminAPIKey: auditorToken,
    });
    const page = await client.organization.usage.audioSpeeches({
      start_time: today,
      bucket_width: "1h",
      limit: 11,
      group_by: ["api_key_id", "model"],
      api_key_ids: [one.apiKey],
      models: ["g1"],
    });
    expect([page.object, page.has_more, page.data.length]).to.deep.equal(["page", false, 11]);
    expect(page.data[10]?.results).to.deep.equal([
      {
        ...result,
        characters: 49,
        num_model_requests: 2,
        project_id: null,
        api_key_id: one.apiKey,
        model: "g1",
      },
    ]);
  });

  it("has buckets of hours and minutes, and pages", async () => {
    const hours = await get(`start_time=${today}&bucket_width=1h&limit=9`, adminToken);
    expect([hours.body.data.length, hours.body.has_more]).to.deep.equal([9, true]);
    const next = await get(
      `start_time=${today}&bucket_width=1h&limit=9&page=${hours.body.next_page}`,
      adminToken,
    );
    expect(next.body.data[0].start_time).to.equal(today + 9 * 3_600);
    expect(next.body.data[1].results[0].characters).to.equal(56);
    expect([next.body.data.length, next.body.has_more, next.body.next_page]).to.deep.equal([2, false, null]);
    const minutes = await get(`start_time=${today + 10 * 3_600}&bucket_width=1m`, adminToken);
    expect(minutes.body.data[0]).to.include({ end_time: today + 10 * 3_600 + 60 });
    expect(minutes.body.data[0].results[0].characters).to.equal(56);
  });

  it("refuses callers without a token or with a page's key, and is readable with a suspended key", async () => {
    const refused = await get(`start_time=${today}`, "guessed");
    expect([refused.status, refused.body.error.code]).to.deep.equal([401, "invalid_api_key"]);
    const origin = "https://shop.example";
    const suspended = await registerWebsite(service.url);
    await admin(service.url, "PUT", `/websites/${suspended.id}/origins`, { origins: [origin] });
    const headers = { "X-API-Key": suspended.apiKey, Origin: origin };
    expect((await ask(`${service.url}${path}?start_time=${today}`, { headers })).status).to.equal(403);
    await admin(service.url, "POST", `/keys/${suspended.apiKey}/suspend`, { reason: "unpaid" });
    expect((await get(`start_time=${today}`, tokenOf(suspended))).status).to.equal(200);
  });

  it("refuses invalid parameters in OpenAI's envelope", async () => {
    for (const [query, param] of [
      ["", "start_time"],
      ["start_time=soon", "start_time"],
      ["start_time=", "start_time"],
      ["start_time=0x10", "start_time"],
      [`start_time=${today}&start_time=${today}`, "start_time"],
      [`start_time=${today}&as_of=`, "as_of"],
      [`start_time=${today}&limit=%207`, "limit"],
      [`start_time=${today}&end_time=${today}`, "end_time"],
      [`start_time=${today}&bucket_width=1w`, "bucket_width"],
      [`start_time=${today}&limit=32`, "limit"],
      [`start_time=${today}&group_by[]=voice`, "group_by.0"],
      [`start_time=${today}&page=x`, "page"],
    ] as const) {
      const { status, body } = await get(query, adminToken);
      expect([status, body.error.param], query).to.deep.equal([400, param]);
    }
  });
});
