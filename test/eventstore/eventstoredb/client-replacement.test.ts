import { AccessDeniedError, StreamNotFoundError, UnavailableError } from "@eventstore/db-client";
import { expect } from "chai";
import { requiresNewClient } from "../../../src/eventstore/eventstoredb/errors.ts";

const serviceError = (code: number) => Object.assign(new Error("refused"), { code, details: "" });

describe("the client of EventStoreDB is replaced", () => {
  it("after an error that is no response to the call", () => {
    expect(requiresNewClient(new UnavailableError(serviceError(14) as never))).to.equal(true);
    expect(requiresNewClient(serviceError(2))).to.equal(true);
  });

  it("not after a response to the call: the stream is unknown, or denied to this user", () => {
    expect(requiresNewClient(new StreamNotFoundError(null as never, "s"))).to.equal(false);
    expect(requiresNewClient(new AccessDeniedError(serviceError(7) as never))).to.equal(false);
  });
});
