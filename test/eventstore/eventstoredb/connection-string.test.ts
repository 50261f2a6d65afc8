import { expect } from "chai";
import { clientFor } from "../../../src/eventstore/eventstoredb/connection-string.ts";

describe("a connection string", () => {
  it("is refused, without repeating it, if an unescaped slash ends the host too early", () => {
    for (const url of ["esdb://admin:1/a-secret", "esdb://admin:1/a-secret@node:2113?tls=false"])
      expect(() => clientFor(url))
        .to.throw(TypeError, "write a / in a user or password as %2F")
        .with.property("message")
        .that.does.not.include("a-secret");
  });

  it("may end with a slash before its options", async () => {
    for (const end of ["", "/", "/?tls=false", "?tls=false&userCertFile=/none"]) {
      const url = `esdb://a:b%2Fc@node:2113${end}`;
      try {
        await clientFor(url).dispose();
      } catch (error) {
        expect((error as Error).message).to.equal(
          "the connection string names a file or a value that cannot be used",
        );
      }
    }
  });
});
