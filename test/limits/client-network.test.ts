import { expect } from "chai";
import { clientNetwork } from "../../src/limits/client-network.ts";

describe("a client's network", () => {
  for (const [address, network] of [
    ["192.0.2.1", "192.0.2.1"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:0DB8:0001:0002::1", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["2001:db8:0:0:ffff::", "2001:db8:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["::ffff:192.0.2.1", "::ffff:192.0.2.1"],
    ["::ffff:c000:201", "::ffff:c000:201"],
    ["", ""],
  ] as const) {
    it(`of "${address}" is "${network}"`, () => {
      expect(clientNetwork(address)).to.equal(network);
    });
  }
});
