import type { ModelRetirement } from "../domain/accounts/model-retirements.ts";
import type { ByokEngine } from "../domain/synthesis/byok-providers.ts";
import type { EngineCode, ShortGender } from "../domain/synthesis/speech.ts";
import type { Engine } from "./engine.ts";

/** A voice as in the provider's list. */
export interface ProviderVoice {
  /** The provider's own name, e.g. `en-US-Neural2-C`, `en-US-JennyNeural`, `alloy`. */
  readonly name: string;
  /** BCP-47; undefined for a voice that speaks any language. */
  readonly lang: string | undefined;
  readonly gender: ShortGender;
}

/** A provider with one set of credentials. */
export interface ProviderClient {
  readonly engine: Engine;
  /**
   * Lists the voices, which verifies the credentials.
   * @throws {EngineFailed} with the message of the provider, without credentials
   */
  listVoices(signal: AbortSignal): Promise<readonly ProviderVoice[]>;
}

/**
 * A provider of BYOK voices, or an operator's own server that speaks a free engine.
 * `domain/synthesis/byok-providers.ts` lists the providers. The drivers are in the folders of their
 * names, such as `engines/google/provider.ts` and `engines/self-hosted/server.ts`.
 */
export interface Provider<Credentials, Code extends EngineCode = ByokEngine> {
  readonly code: Code;
  /** `provider` of its voices. */
  readonly name: string;
  /** The announced end of the model that these credentials name. Default: none is known. */
  retirement?(credentials: Credentials): ModelRetirement | undefined;
  /**
   * Opens a client, without network access. `websiteId` says whose credentials they are, for
   * reports.
   */
  open(credentials: Credentials, websiteId?: string): ProviderClient;
}
