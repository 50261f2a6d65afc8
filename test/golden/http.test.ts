import { expect } from "chai";
import fc from "fast-check";
import { admin, authorize, registerWebsite } from "../support/client.ts";
import { duringSuite } from "../support/during.ts";
import { openExchange, type Received } from "../support/exchange.ts";
import { startInProcessService } from "../support/in-process-service.ts";
import { adminToken } from "../support/service.ts";
import { changedAt, placesIn } from "./changed-json.ts";
import { expectGolden } from "./golden.ts";
import { digestOf, signaturesOf } from "./openapi-signatures.ts";
import { type Json, structureOf } from "./openapi-structure.ts";
import { json, others, query, readable, refused, speech } from "./requests.ts";

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
const origin = "https://shop.example";

/** Headers that differ from run to run, or with the order of requests. */
const volatile = new Set(["date", "x-request-id", "content-length", "connection", "keep-alive"]);
const exposing = "access-control-expose-headers";
/** Headers of which only the presence is recorded. */
const variable = /^(x-ratelimit-(remaining|reset)|etag|content-range|x-audio-duration)$/;
const hashes = /[0-9a-f]{64}/g;

const errorIn = (body: Buffer): { code?: string; errors?: { path: (string | number)[] }[] } => {
  try {
    return JSON.parse(body.toString()).error ?? {};
  } catch {
    return {};
  }
};

describe("golden files: HTTP", () => {
  const service = duringSuite(() =>
    startInProcessService({ TRUST_PROXY: "127.0.0.1", BURST_LIMIT: "1000000" }),
  );
  let connection: ReturnType<typeof openExchange>;
  let key: Record<string, string>;
  let document: { readonly paths: Readonly<Record<string, { readonly [method: string]: Json }>> };
  let exposed: string | undefined;
  let client = 0;

  before(async () => {
    connection = openExchange(service.url);
    const website = await registerWebsite(service.url);
    await admin(service.url, "PUT", `/websites/${website.id}/origins`, { origins: [origin] });
    key = authorize(website);
    const described = await connection.exchange({ method: "GET", path: "/openapi.json" });
    document = JSON.parse(described.body.toString());
    exposed = described.headers[exposing];
  });
  after(async () => {
    connection?.close();
  });

  /** Status, code, the places of what is wrong, headers. */
  const lineOf = ({ status, headers, body }: Received): string => {
    const { code, errors } = errorIn(body);
    const places = errors?.map(({ path }) => path.join(".") || "(whole)").join(" ");
    const shown = Object.entries(headers)
      .filter(([name]) => !volatile.has(name))
      .map(([name, value]) => `${name}: ${shownValue(name, value)}`)
      .sort();
    return [status, code, places && `[${places}]`, `{${shown.join("; ")}}`].filter(Boolean).join(" ");
  };

  const shownValue = (name: string, value: string): string => {
    if (variable.test(name)) return "…";
    return name === exposing && value === exposed ? "(all)" : value.replaceAll(hashes, "{hash}");
  };

  /** From another address each time: the limit on failed attempts is per address. */
  const responseTo = async (
    method: string,
    path: string,
    more: Record<string, string> = {},
    body?: string,
  ): Promise<string> => {
    client += 1;
    const forwarded = { "X-Forwarded-For": `10.0.${client >> 8}.${client & 255}`, Origin: origin };
    const headers = { ...forwarded, ...more };
    return lineOf(await connection.exchange({ method, path: concrete(path), headers, body }));
  };

  const ask = async (method: string, path: string, more?: Record<string, string>, body?: string) =>
    `${method} ${path.replaceAll(hashes, "{hash}")}: ${await responseTo(method, path, more, body)}\n`;

  const concrete = (path: string): string => path.replaceAll(/\{[^}]*\}/g, "x");

  it("describes itself with the recorded signatures", () => {
    expectGolden("openapi.txt", signaturesOf(document));
  });

  it("describes samples of operations with the recorded structure", () => {
    const { "/v2/text/synthesize": synthesis, "/v2/voices/{name}": voice = {} } = document.paths;
    expectGolden("openapi-samples.json", structureOf({ synthesis: synthesis?.post ?? null, voice }));
  });

  it("records any change of the description, of a leaf as a change of one line", () => {
    const recorded = new Set(signaturesOf(document).split("\n"));
    const places = fc.constantFrom(...placesIn(document));
    const property = fc.property(places, fc.boolean(), (place, isRemoved) => {
      const lines = signaturesOf(changedAt(document, place, isRemoved)).split("\n");
      const added = lines.filter((line) => !recorded.has(line));
      const missing = recorded.size - new Set(lines).size + added.length;
      expect(added.length + missing).to.be.above(0);
      expect(added.length).to.be.at.most(1);
    });
    fc.assert(property, { numRuns: 50 });
  });

  it("lets pages of other origins read the recorded headers", () => {
    expectGolden("exposed-headers.json", exposed?.split(", "));
  });

  it("sends callers without credentials the recorded responses, for every method at every address", async () => {
    const lines: string[] = [];
    const named = new Set<string>();
    const nameOf = (response: string) => `${response.slice(0, 3)}#${digestOf(response)}`;
    for (const path of [...Object.keys(document.paths), ...others].sort()) {
      const preflight = { "Access-Control-Request-Method": "POST" };
      const responses = new Map([["preflight", await responseTo("OPTIONS", path, preflight)]]);
      for (const method of methods) responses.set(method, await responseTo(method, path));
      const methodsByResponse = Map.groupBy(responses.keys(), (method) => responses.get(method) ?? "");
      const shown = [...methodsByResponse].map(([response, same]) => `${nameOf(response)} ${same.join(" ")}`);
      lines.push(`${path}: ${shown.join(", ")}\n`);
      for (const response of responses.values()) named.add(`${nameOf(response)}: ${response}\n`);
    }
    expectGolden("responses-without-credentials.txt", [...lines, "\n", ...[...named].sort()].join(""));
  });

  it("sends a key and the operator the recorded responses for names that do not exist", async () => {
    const lines: string[] = [];
    for (const [path, operations] of Object.entries(document.paths).sort()) {
      const caller = path.startsWith("/admin") ? { Authorization: `Bearer ${adminToken}` } : key;
      for (const method of Object.keys(operations).sort()) {
        const body = /post|put|patch/.test(method) ? "{}" : undefined;
        const headers = { ...caller, ...(body && json) };
        lines.push(await ask(method.toUpperCase(), path, headers, body));
      }
    }
    expect(lines).to.have.length.above(40);
    expectGolden("answers-with-credentials.txt", lines.join(""));
  });

  it("sends the recorded responses to requests for speech, and to those for the object", async () => {
    const lines: string[] = [];
    for (const [method, path, headers = {}, body] of speech) {
      lines.push(`${JSON.stringify({ ...headers, ...(body && { body }) })} `);
      lines.push(await ask(method, path, { ...key, ...headers }, body && JSON.stringify(body)));
    }
    const path = `/v2/text/synthesize?${query}`;
    const { headers } = await connection.exchange({ method: "GET", path, headers: key });
    const object = `/audio/${/[0-9a-f]{64}/.exec(headers.etag ?? "")?.[0]}`;
    for (const extension of ["mp3", "ogg", "txt"]) lines.push(await ask("GET", `${object}.${extension}`));
    lines.push(await ask("GET", `${object}.mp3`, { Range: "bytes=0-99" }));
    lines.push(await ask("GET", `${object}.mp3`, { "If-None-Match": headers.etag ?? "" }));
    expectGolden("answers-with-speech.txt", lines.join(""));
  });

  it("refuses requests for speech as recorded", async () => {
    const path = "/v2/text/synthesize";
    const requests = [
      ...refused.queries.map((query) => ({ method: "GET", path: `${path}?${query}`, headers: key })),
      ...refused.bodies.map((body) => ({ method: "POST", path, headers: { ...key, ...json }, body })),
    ];
    const lines: string[] = [];
    for (const request of requests) {
      const { status, headers, body } = await connection.exchange(request);
      expect(headers["cache-control"]).to.equal("no-store");
      const { message, code, errors = [] } = JSON.parse(body.toString()).error;
      const shown = "body" in request ? request.body : request.path.slice(path.length + 1);
      const places = errors.map((one: { path: string[] }) => one.path.join("."));
      lines.push(`${shown.replace(/x{9,}/, "x…")}: ${status} ${code} [${places}] ${message}\n`);
    }
    expectGolden("refusals-of-speech.txt", lines.join(""));
  });

  it("sends the recorded bodies", async () => {
    const { host } = new URL(service.url);
    const bodies: Record<string, unknown> = {};
    for (const path of readable) {
      const { body } = await connection.exchange({ method: "GET", path, headers: key });
      const text = body
        .toString()
        .replaceAll(host, "service.example")
        .replace(/(?<="token":)"[^"]+"/, '"…"');
      bodies[path] = JSON.parse(text);
    }
    expectGolden("bodies.json", bodies);
  });
});
