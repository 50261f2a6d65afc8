import type { LabelName, LocalizedLabels } from "../../labels/labels.ts";
import type { PageContext } from "../feature.ts";

type PlayerLabelName = Exclude<LabelName, "allowSpeech">;

/** A player's labels, in the language of its article. */
export type PlayerLabels = LocalizedLabels<PlayerLabelName>;

const english: Readonly<Record<PlayerLabelName, string>> = {
  article: "Listen to this article",
  listen: "Listen",
  pause: "Pause",
  resume: "Resume",
  tryAgain: "Try again",
  previous: "Previous paragraph",
  next: "Next paragraph",
  position: "Position",
  paragraph: "Paragraph {n} of {count}",
  time: "Time",
  speed: "Speed",
  download: "Download",
  copyLink: "Copy link at this time",
  linkCopied: "Link copied",
  poweredBy: "Powered by Voxledger",
  waiting: "Waiting…",
  failed: "The article could not be read aloud.",
  unavailable: "Listening is unavailable right now",
  miniPlayer: "Article player",
  show: "Show the player",
  close: "Close",
};

/**
 * Returns a function that finds the labels for an article: those of its own language, or else of
 * the page's, or else English ones. It returns undefined until they are loaded, and `onLoad` is
 * called then.
 */
export const createLabels = (
  { features, voxledger }: Pick<PageContext, "features" | "voxledger">,
  onLoad: () => void,
): ((article: Element) => PlayerLabels | undefined) => {
  // Caches may hold a library or a configuration from before they had labels.
  const overrides = [features.webPlayer.labels ?? {}, voxledger.labels ?? {}];
  const inEnglish: PlayerLabels = { lang: "en", dir: "ltr", labels: english };
  const hasOverrides = overrides.some((byLanguage) => Object.keys(byLanguage).length > 0);
  let choose: ((languages: readonly string[]) => PlayerLabels) | undefined;
  let isLoading = false;
  const load = async (): Promise<void> => {
    if (isLoading) return;
    isLoading = true;
    try {
      const { chooseLabels } = await import("../../labels/labels.ts");
      choose = (languages) => chooseLabels(languages, { english, overrides });
    } catch {
      choose = () => inEnglish;
    }
    onLoad();
  };
  return (article) => {
    const languages = [article.closest<HTMLElement>("[lang]")?.lang, document.documentElement.lang];
    const given = languages.filter((tag): tag is string => Boolean(tag));
    if (!hasOverrides && /^en\b/i.test(given[0] ?? "en")) return inEnglish;
    if (!choose) void load();
    return choose?.(given);
  };
};

/** Replaces `{n}` and `{count}` in a label. */
export const fillLabel = (label: string, values: Readonly<Record<string, number>>): string =>
  label.replace(/\{(\w+)\}/g, (placeholder, name) => String(values[name] ?? placeholder));
