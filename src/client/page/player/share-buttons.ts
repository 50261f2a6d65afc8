import type { WebPlayerFeature } from "../../voxledger.ts";
import { element, iconButton } from "./elements.ts";
import type { PlayerLabels } from "./labels.ts";
import type { Part } from "./player-view.ts";
import type { Reading } from "./reading.ts";
import { timeLink } from "./time-links.ts";

const messageMs = 4_000;

/** Buttons that copy a link to the current time, and that download the article's audio. */
export const shareButtons = (
  reading: Reading,
  { labels }: PlayerLabels,
  { controls, article }: { controls: WebPlayerFeature["controls"]; article: number },
): Part[] => {
  const status = element("span", { className: "status", role: "status" });
  let hiding: ReturnType<typeof setTimeout> | undefined;
  const say = (message: string): void => {
    clearTimeout(hiding);
    status.textContent = message;
    hiding = setTimeout(() => {
      status.textContent = "";
    }, messageMs);
  };
  const copyLink = iconButton("link", labels.copyLink, () => {
    const link = timeLink(reading, article);
    copy(link).then(
      () => say(labels.linkCopied),
      () => say(link), // the browser does not allow it: the reader copies it
    );
  });
  const saveAudio = async (): Promise<void> => {
    if (download.ariaBusy === "true") return;
    download.ariaBusy = "true";
    try {
      save(await reading.download(), `${fileName()}.mp3`);
    } catch {
      say(labels.failed);
    }
    download.ariaBusy = "false";
  };
  const download = iconButton("download", labels.download, () => void saveAudio());
  const buttons = [...(controls.link ? [copyLink] : []), ...(controls.download ? [download] : [])];
  if (buttons.length === 0) return [];
  return [{ node: element("span", { className: "share" }, ...buttons) }, { node: status }];
};

/** Pages without TLS have no clipboard. */
const copy = async (text: string): Promise<void> => navigator.clipboard.writeText(text);

const save = (audio: Blob, name: string): void => {
  const href = URL.createObjectURL(audio);
  element("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000); // Safari reads it later
};

const fileName = (): string =>
  document.title
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim()
    .slice(0, 80) || "article";
