import type { ByokEngine } from "../domain/accounts/byok-providers.ts";
import type { EngineCode, ShortGender } from "../domain/synthesis/speech.ts";
import type { Engine } from "./engine.ts";

/** A voice as its provider lists it. */
export interface ProviderVoice {
  /** The provider's own name, e.g. `en-US-Neural2-C`, `en-US-JennyNeural`, `alloy`. */
  readonly name: string;
  /** BCP-47; undefined for a voice that speaks whatever language it is given. */
  readonly lang: string | undefined;
  readonly gender: ShortGender;
}

/** A provider as one set of credentials reaches it. */
export interface ProviderAccount {
  readonly engine: Engine;
  /**
   * The provider's voices, which proves the credentials.
   * @throws {EngineFailed} with the provider's own words, stripped of credentials
   */
  listVoices(signal: AbortSignal): Promise<readonly ProviderVoice[]>;
}

/** What turns credentials into an account; touches no network by itself. */
export interface Provider<Credentials, Code extends EngineCode = ByokEngine> {
  readonly code: Code;
  /** As voices tell it: google, azure, openai, self-hosted. */
  readonly name: string;
  open(credentials: Credentials): ProviderAccount;
}
