import { expect } from "chai";
import { z } from "zod";
import { websiteConfig } from "../../../src/domain/accounts/website-config.ts";
import { cases } from "./cases.ts";

/** Read by the website's own programs: pages do nothing with them. */
const notForPages = ["sdkVersion=v1", "sdkVersion=v2"];

interface JsonSchema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
  readonly anyOf?: readonly JsonSchema[];
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | false;
  readonly type?: string;
}

/** The paths of all members, `*` for a member of any name, and each value of an enumeration. */
const membersOf = (schema: JsonSchema, root = schema, path = ""): string[] => {
  const { $ref, anyOf, enum: values, properties, additionalProperties, type } = schema;
  if ($ref) return membersOf(root.$defs?.[$ref.replace("#/$defs/", "")] ?? {}, root, path);
  if (anyOf) return anyOf.flatMap((one) => membersOf(one, root, path));
  if (values) return values.map((value) => `${path}=${value}`);
  if (properties) {
    return Object.entries(properties).flatMap(([name, member]) =>
      membersOf(member, root, path === "" ? name : `${path}.${name}`),
    );
  }
  if (additionalProperties) return membersOf(additionalProperties, root, `${path}.*`);
  return type === "null" ? [] : [path];
};

describe("each member of a website's configuration", () => {
  it("has a test on its page", () => {
    const schema = z.toJSONSchema(websiteConfig, { io: "output" }) as JsonSchema;
    const tested = new Set([...notForPages, ...cases.flatMap(({ members }) => members)]);
    const members = new Set(membersOf(schema));
    expect(members.size).to.be.above(70);
    expect([...tested].sort()).to.deep.equal([...members].sort());
  });
});
