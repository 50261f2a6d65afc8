import { expect } from "chai";
import * as domainErrors from "../../src/domain/errors.ts";
import * as httpErrors from "../../src/http/kernel/errors/error-codes.ts";
import { closeCodes } from "../../src/http/websocket/close.ts";
import * as limits from "../../src/limits/limits.ts";
import { expectGolden } from "./golden.ts";

const { isRetryable, presentError } = httpErrors;

const samples: Readonly<Record<string, readonly Error[]>> = {
  Invalid: [new domainErrors.Invalid([{ path: ["voice", 0], message: "…" }])],
  Unpronounceable: [new domainErrors.Unpronounceable()],
  NotFound: [new domainErrors.NotFound("…")],
  Conflict: [new domainErrors.Conflict("…")],
  Archived: [new domainErrors.Archived([{ file: "5b", journals: 2, months: ["2026-01"] }])],
  Unauthorized: [new domainErrors.Unauthorized("…")],
  Forbidden: [new domainErrors.Forbidden("…")],
  KeyIsSuspended: [new domainErrors.KeyIsSuspended("…", "operator")],
  RateLimited: (["minute", "burst", "failures", "sockets", "streams", "unread"] as const).map(
    (kind) => new limits.RateLimited("…", kind, 7),
  ),
  EngineFailed: [
    new domainErrors.EngineFailed("…"),
    new domainErrors.EngineFailed("…", { retryAfterSeconds: 7 }),
    new domainErrors.EngineFailed("…", { permanent: true }),
  ],
  Unavailable: [new domainErrors.Unavailable("…", 7)],
  KeyOverloaded: [new domainErrors.KeyOverloaded("…", 7)],
  Interrupted: [new domainErrors.Interrupted()],
  MethodNotAllowed: [new httpErrors.MethodNotAllowed(["GET", "HEAD"])],
  RangeNotSatisfiable: [new httpErrors.RangeNotSatisfiable(1000)],
  UpgradeRequired: [new httpErrors.UpgradeRequired()],
  NothingToSpeak: [new domainErrors.NothingToSpeak()],
  SpeechTooLong: [new domainErrors.SpeechTooLong()],
  ReadersStalled: [new domainErrors.ReadersStalled()],
  Reworded: [new domainErrors.Reworded(), new domainErrors.Reworded("content_filter")],
  PayloadTooLarge: [new httpErrors.PayloadTooLarge()],
  HeadersTooLarge: [new httpErrors.HeadersTooLarge()],
  TooSlow: [new httpErrors.TooSlow()],
  TypeError: [new TypeError("…")],
};

/** Any other error is an internal one. */
const anyOther = "TypeError";
const { ServiceError } = domainErrors;

const isErrorClass = (value: unknown): boolean =>
  typeof value === "function" && value.prototype instanceof Error && value !== ServiceError;

const presented = (error: Error) => {
  const { status, headers, body } = presentError(error);
  const { message: _text, ...facts } = body.error;
  const errors = facts.errors?.map(({ path }) => ({ path }));
  return { status, headers, body: { error: { ...facts, ...(errors && { errors }) } } };
};

describe("golden files: errors", () => {
  it("each have a sample in this test", () => {
    const classes = Object.entries({ ...domainErrors, ...limits, ...httpErrors }).filter(([, one]) =>
      isErrorClass(one),
    );
    const names = classes.map(([name]) => name);
    expect(Object.keys(samples).sort()).to.deep.equal([...names, anyOther].sort());
  });

  it("become the recorded statuses, codes and headers", () => {
    const recorded = Object.entries(samples).flatMap(([name, errors]) =>
      errors.map((error) => ({ error: name, retryable: isRetryable(error), ...presented(error) })),
    );
    expectGolden("errors.json", recorded);
  });

  it("close sockets with the recorded codes", () => {
    expectGolden("close-codes.json", closeCodes);
  });
});
