import { expect } from "chai";
import { platformOf } from "../../../src/client/voices/platform-report.ts";

describe("detection of the page's platform", () => {
  const known: Record<string, [userAgent: string, ...platform: (string | number)[]]> = {
    "Safari on a Mac": [
      "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.4 Safari/605.1.15",
      "Safari",
      "18.4",
      "macOS",
      "10.15.7",
      "desktop",
    ],
    "Safari on an iPhone": [
      "Mozilla/5.0 (iPhone; CPU iPhone OS 18_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.4 Mobile/15E148 Safari/604.1",
      "Safari",
      "18.4",
      "iOS",
      "18.4",
      "mobile",
    ],
    "Chrome on Android": [
      "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/137.0.0.0 Mobile Safari/537.36",
      "Chrome",
      "137.0.0.0",
      "Android",
      "10",
      "mobile",
    ],
    "Edge on Windows": [
      "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/137.0.0.0 Safari/537.36 Edg/137.0.0.0",
      "Edge",
      "137.0.0.0",
      "Windows",
      "10.0",
      "desktop",
    ],
    "Firefox on Linux": [
      "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
      "Firefox",
      "140.0",
      "Linux",
      "unknown",
      "desktop",
    ],
    "an unknown browser": ["a robot", "unknown", "unknown", "unknown", "unknown", "desktop"],
  };
  for (const [name, [userAgent, browser, browserVersion, os, osVersion, deviceType]] of Object.entries(
    known,
  )) {
    it(`recognizes ${name}`, async () => {
      expect(await platformOf({ userAgent })).to.deep.equal({
        browser,
        browserVersion,
        os,
        osVersion,
        deviceType,
      });
    });
  }

  it("recognizes a Mac with a touch screen as an iPad", async () => {
    const userAgent = known["Safari on a Mac"]?.[0] ?? "";
    expect(await platformOf({ userAgent, maxTouchPoints: 5 })).to.include({
      os: "iOS",
      deviceType: "tablet",
    });
  });

  it("prefers user agent client hints", async () => {
    const brands = [
      { brand: "Not.A/Brand", version: "99" },
      { brand: "Chromium", version: "137.0.7151.55" },
      { brand: "Microsoft Edge", version: "137.0.3296.52" },
    ];
    const userAgentData = {
      brands,
      mobile: false,
      platform: "Windows",
      getHighEntropyValues: async () => ({ platformVersion: "15.0.0", fullVersionList: brands }),
    };
    expect(await platformOf({ userAgent: known["Edge on Windows"]?.[0] ?? "", userAgentData })).to.deep.equal(
      {
        browser: "Edge",
        browserVersion: "137.0.3296.52",
        os: "Windows",
        osVersion: "15.0.0",
        deviceType: "desktop",
      },
    );
  });
});
