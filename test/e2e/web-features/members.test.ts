import { expect } from "chai";
import { z } from "zod";
import { websiteConfig } from "../../../src/domain/accounts/website-config.ts";
import { openFeatureSite } from "../../support/client-library/feature-page.ts";
import { duringSuite } from "../../support/during.ts";
import { messageCases } from "./message-cases.ts";
import { miniPlayerCases } from "./mini-player-cases.ts";
import { playerCases } from "./player-cases.ts";
import { voiceCases } from "./voice-cases.ts";

/** Read by the website's own programs: pages do nothing with them. */
const notForPages = ["analytics.enabled", "sdkVersion=v1", "sdkVersion=v2"];

interface JsonSchema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
  readonly anyOf?: readonly JsonSchema[];
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly type?: string;
}

/** The paths of all members, and each value of an enumeration. */
const membersOf = (schema: JsonSchema, root = schema, path = ""): string[] => {
  const { $ref, anyOf, enum: values, properties, type } = schema;
  if ($ref) return membersOf(root.$defs?.[$ref.replace("#/$defs/", "")] ?? {}, root, path);
  if (anyOf) return anyOf.flatMap((one) => membersOf(one, root, path));
  if (values) return values.map((value) => `${path}=${value}`);
  if (properties) {
    return Object.entries(properties).flatMap(([name, member]) =>
      membersOf(member, root, path === "" ? name : `${path}.${name}`),
    );
  }
  return type === "null" ? [] : [path];
};

const cases = [...playerCases, ...miniPlayerCases, ...voiceCases, ...messageCases];

describe("each member of a website's configuration, on its page", () => {
  const site = duringSuite(openFeatureSite);

  afterEach(() => site.closePages());

  it("has a test", () => {
    const schema = z.toJSONSchema(websiteConfig, { io: "output" }) as JsonSchema;
    const tested = new Set([...notForPages, ...cases.flatMap(({ members }) => members)]);
    const members = new Set(membersOf(schema));
    expect(members.size).to.be.above(70);
    expect([...tested].sort()).to.deep.equal([...members].sort());
  });

  for (const { members, does, run } of cases) it(`${members.join(", ")}: ${does}`, () => run(site));
});
