import { openFeatureSite } from "../../support/client-library/feature-page.ts";
import { duringSuite } from "../../support/during.ts";
import { cases } from "./cases.ts";

describe("each member of a website's configuration, on its page", () => {
  const site = duringSuite(openFeatureSite);

  afterEach(() => site.closePages());

  for (const { members, does, run } of cases) it(`${members.join(", ")}: ${does}`, () => run(site));
});
