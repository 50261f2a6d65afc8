/** The configuration of a website. Members that the operator did not set have their defaults. */
export interface WebsiteConfig {
  readonly features: WebsiteFeatures;
  readonly voice: WebsiteVoice;
  readonly analytics: Toggle;
  readonly sdkVersion: "v1" | "v2";
}

export interface WebsiteVoice {
  readonly name: string;
  /** 0 to 2. */
  readonly pitch: number;
  /** 0 to 2. */
  readonly rate: number;
  /** 0 to 1. */
  readonly volume: number;
}

export interface Toggle {
  readonly enabled: boolean;
}

export interface SpokenText extends Toggle {
  readonly text: string | null;
}

export interface WebsiteFeatures {
  readonly welcomeMessage: SpokenText;
  readonly speakSelectedText: Toggle;
  readonly speakLinks: Toggle;
  readonly speakInactivity: SpokenText;
  readonly speakEndPage: SpokenText;
  readonly exitIntent: SpokenText;
  readonly accessibilityNavigation: Toggle;
  readonly paragraphNavigation: Toggle;
  readonly webPlayer: WebPlayerFeature;
  readonly welcomeMessageOnce: boolean;
}

type Place = "inside" | "before" | "after";
type ThemeToken = "bg" | "fg" | "muted" | "accent" | "accentSoft" | "hover" | "border" | "track" | "fill";
type Corner = "top-left" | "top-right" | "bottom-left" | "bottom-right";
type Side = "top" | "right" | "bottom" | "left";

export interface WebPlayerFeature {
  readonly enabled: boolean;
  readonly selector: string;
  readonly paragraphSelector: string;
  readonly position: "inline" | "before" | "after" | { readonly target: string; readonly at: Place };
  readonly theme: "neutral" | "brand" | { readonly [Token in ThemeToken]?: string | undefined };
  readonly controls: {
    readonly progress: boolean;
    readonly time: boolean;
    readonly skip: boolean;
    readonly speed: boolean;
    readonly brand: { readonly icon: boolean; readonly poweredBy: boolean };
  };
  readonly navigation: { readonly paragraphHighlight: boolean; readonly paragraphClick: boolean };
  readonly layout: { readonly mode: "shrink" | "fill"; readonly display: "inline" | "block" };
  readonly miniPlayer: {
    readonly enabled: boolean;
    readonly position: Corner | { readonly [Edge in Side]?: string | undefined };
    readonly animation: "none" | "fade" | "slide" | "pop";
  };
  readonly voice?: VoiceSelector | undefined;
  readonly sanitize: { readonly enabled: boolean; readonly exclude: readonly string[] };
  readonly pitch?: number | undefined;
  readonly rate?: number | undefined;
  readonly volume?: number | undefined;
}

/** A voice's name, a regular expression for names, or required properties. */
export type VoiceSelector =
  | string
  | { readonly regex: string; readonly flags?: string | undefined }
  | {
      readonly name?: string | undefined;
      readonly lang?: string | undefined;
      readonly gender?: "f" | "m" | "male" | "female" | undefined;
      readonly isByok?: boolean | undefined;
      readonly provider?: string | undefined;
    };
