import { expect } from "chai";
import {
  EngineFailed,
  Invalid,
  KeyIsSuspended,
  KeyOverloaded,
  NotFound,
  Unauthorized,
  Unavailable,
} from "../../../../src/domain/errors.ts";
import { compatibleApis } from "../../../../src/http/all-operations.ts";
import { apiAt } from "../../../../src/http/kernel/compatible-api.ts";
import { ownEnvelope } from "../../../../src/http/kernel/errors/error-envelope.ts";
import { RateLimited } from "../../../../src/limits/limits.ts";

const envelopeOf = (path: string) => apiAt(compatibleApis, path)?.errors ?? ownEnvelope;

const quota = new KeyIsSuspended("too many characters", "quota");
const operator = new KeyIsSuspended("abuse", "operator");

describe("the envelope of an error", () => {
  it("is chosen by the first segment of the path, in any case, and is the service's own elsewhere", () => {
    const memberAt = (path: string) =>
      Object.keys(envelopeOf(path).present(new NotFound("nothing")).body).join();
    const codeAt = (path: string) =>
      (envelopeOf(path).present(new NotFound("nothing")).body as { error: { code: string } }).error.code;
    for (const path of ["/openai", "/openai/v1/nowhere", "/OpenAI/v1"]) {
      expect(codeAt(path), path).to.equal("not_found");
    }
    for (const path of ["/elevenlabs", "/elevenlabs/v1"]) expect(memberAt(path), path).to.equal("detail");
    for (const path of ["/", "/v2/voices", "/openai2/v1", "/v1/openai/"]) {
      expect(codeAt(path), path).to.equal("NOT_FOUND");
    }
  });

  describe("of OpenAI", () => {
    const openAi = envelopeOf("/openai/v1/audio/speech");
    const shown = (error: unknown) => {
      const { status, headers, body } = openAi.present(error);
      const { message, ...facts } = (body as { error: Record<string, unknown> }).error;
      expect(message).to.be.a("string").and.to.not.equal("");
      return { status, ...facts, retry: headers["x-should-retry"] };
    };

    it("has OpenAI's types and codes, and names the member of its own body", () => {
      const invalid = { status: 400, type: "invalid_request_error", code: "invalid_value", retry: undefined };
      const badText = new Invalid([{ path: ["text"], message: "unspeakable" }]);
      expect(shown(badText)).to.deep.equal({ ...invalid, param: "input" });
      const badId = new Invalid([{ path: ["voice", "id"], message: "is required" }]);
      expect(shown(badId)).to.deep.equal({ ...invalid, param: "voice.id" });
      const missing = { status: 404, type: "invalid_request_error", retry: undefined };
      expect(shown(new NotFound("no such voice", "voice"))).to.deep.equal({ ...invalid, param: "voice" });
      expect(shown(new NotFound("no such engine", "engine"))).to.deep.equal({
        ...missing,
        param: "model",
        code: "model_not_found",
      });
      expect(shown(new Unauthorized("wrong"))).to.include({ status: 401, code: "invalid_api_key" });
    });

    it("presents an exhausted quota as 429 that is not to be repeated, a suspension as 403", () => {
      const exhausted = { status: 429, type: "insufficient_quota", code: "insufficient_quota", param: null };
      expect(shown(quota)).to.deep.equal({ ...exhausted, retry: "false" });
      expect(shown(operator)).to.include({ status: 403, code: "key_suspended", retry: undefined });
    });

    it("says of refusals and failures whether to repeat the request", () => {
      for (const error of [new RateLimited("too many", "burst", 1), new KeyOverloaded("too many", 2)]) {
        expect(shown(error)).to.include({
          status: 429,
          type: "requests",
          code: "rate_limit_exceeded",
          retry: "true",
        });
      }
      expect(shown(new Unavailable("down", 1))).to.include({
        status: 503,
        type: "server_error",
        retry: "true",
      });
      expect(shown(new EngineFailed("failed"))).to.include({
        status: 502,
        code: "engine_failed",
        retry: "true",
      });
      expect(shown(new EngineFailed("refused", { permanent: true })).retry).to.equal("false");
    });

    it("reveals nothing of an internal error", () => {
      const { status, body } = openAi.present(new TypeError("a secret"));
      expect(status).to.equal(500);
      expect(JSON.stringify(body)).to.not.include("secret");
    });
  });

  describe("of ElevenLabs", () => {
    const shown = (error: unknown) => {
      const { status, body } = envelopeOf("/elevenlabs/v1/voices").present(error);
      return [status, (body as { detail: { status: string } }).detail.status];
    };

    it("has ElevenLabs' codes", () => {
      expect(shown(new Unauthorized("wrong"))).to.deep.equal([401, "invalid_api_key"]);
      expect(shown(quota)).to.deep.equal([401, "quota_exceeded"]);
      expect(shown(operator)).to.deep.equal([403, "key_suspended"]);
      expect(shown(new NotFound("no such voice", "voice"))).to.deep.equal([404, "voice_not_found"]);
      expect(shown(new KeyOverloaded("too many", 2))).to.deep.equal([429, "too_many_concurrent_requests"]);
    });
  });
});
