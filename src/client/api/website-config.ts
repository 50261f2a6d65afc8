import type { WebsiteConfig } from "../../domain/accounts/website-config.ts";

/** The configuration of a website. Members that the operator did not set have their defaults. */
export type { WebsiteConfig };
/** The configuration as the service sends it. */
export interface CurrentConfig extends WebsiteConfig {
  /** Present while the website's key is suspended: the service refuses to speak. */
  readonly suspended?: true;
  /**
   * The languages of the voices that the configuration names. Services of earlier versions lack it.
   */
  readonly voiceLanguages?: Readonly<Record<string, string>>;
}
export type WebsiteVoice = WebsiteConfig["voice"];
export type WebsiteFeatures = WebsiteConfig["features"];
export type SpokenText = WebsiteFeatures["welcomeMessage"];
export type WebPlayerFeature = WebsiteFeatures["webPlayer"];
/** A voice's name, a regular expression for names, or required properties. */
export type VoiceSelector = NonNullable<WebPlayerFeature["voice"]>;
