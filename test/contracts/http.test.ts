import { expect } from "chai";
import type { Received, Sent } from "../support/exchange.ts";
import { createHttpContract, type Described, undescribed } from "./http.ts";

const document: Described = {
  paths: {
    "/things/{id}": {
      get: {
        operationId: "showThing",
        responses: {
          200: {
            headers: {
              ETag: { required: true, schema: { type: "string", pattern: '^"' } },
              "X-Extra": { schema: { type: "string" } },
            },
            content: { "application/json": { schema: { $ref: "#/components/schemas/Thing" } } },
          },
          304: {},
          404: { $ref: "#/components/responses/NotFound" },
        },
      },
    },
  },
  components: {
    responses: { NotFound: { content: { "application/json": { schema: { type: "object" } } } } },
    ...{
      schemas: {
        Thing: { type: "object", required: ["id"], additionalProperties: false, properties: { id: {} } },
      },
    },
  },
};

const get: Sent = { method: "GET", path: "/things/1?x=y" };
const headers = { "content-type": "application/json; charset=utf-8", etag: '"1"', date: "now" };
const response = (changes: Partial<Omit<Received, "body">> & { body?: string } = {}): Received => ({
  status: 200,
  headers,
  ...changes,
  body: Buffer.from(changes.body ?? '{"id":1}'),
});

describe("the HTTP contract", () => {
  const deviations = (received: Received, sent = get) =>
    createHttpContract(document).deviations(sent, received);

  it("accepts a response that matches the document", () => {
    expect(deviations(response())).to.deep.equal([]);
    expect(deviations(response({ headers: { ...headers, "x-extra": "yes" } }))).to.deep.equal([]);
    expect(deviations(response({ status: 304, headers: {}, body: "" }))).to.deep.equal([]);
    expect(deviations(response({ body: "" }), { ...get, method: "HEAD" })).to.deep.equal([]);
  });

  for (const [what, received, word] of [
    ["a status", response({ status: 418 }), "418 is not described"],
    ["a missing header", response({ headers: { "content-type": "application/json" } }), "ETag is missing"],
    ["a header's value", response({ headers: { ...headers, etag: "1" } }), "the header ETag: "],
    [
      "an undocumented header",
      response({ headers: { ...headers, "x-leak": "1" } }),
      "x-leak is not described",
    ],
    [
      "a type",
      response({ headers: { ...headers, "content-type": "text/html" } }),
      "text/html is not described",
    ],
    ["a missing member", response({ body: "{}" }), "required property 'id'"],
    ["an undocumented member", response({ body: '{"id":1,"secret":2}' }), "additional properties"],
    ["a missing body", response({ body: "" }), "there is no body"],
    ["an undocumented body", response({ status: 304, headers: {} }), "there is a body"],
    [
      "an envelope with another status",
      response({
        status: 404,
        body: '{"error":{"statusCode":400}}',
        headers: { "content-type": "application/json" },
      }),
      "the envelope says 400",
    ],
  ] as const) {
    it(`reports ${what}`, () => {
      expect(deviations(received).join("\n")).to.include(word);
    });
  }

  it("reports a response of an undocumented operation, unless it is 404 or 405", () => {
    const elsewhere = { method: "GET", path: "/elsewhere" };
    expect(deviations(response(), elsewhere)).to.deep.equal([`200 ${undescribed}`]);
    expect(deviations(response({ status: 404 }), elsewhere)).to.deep.equal([]);
    expect(deviations(response({ status: 405 }), { method: "PUT", path: "/things/1" })).to.deep.equal([]);
  });

  it("lists the documented responses that were never seen", () => {
    const contract = createHttpContract(document);
    contract.deviations(get, response());
    expect(contract.unseen()).to.deep.equal(["GET /things/{id} 304", "GET /things/{id} 404"]);
  });
});
