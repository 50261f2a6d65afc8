import { isOutage } from "../../errors.ts";
import type { Boundary, EventKind, Listener, SpeakParams, TextPart } from "../../voxledger.ts";
import type { PageContext } from "../feature.ts";
import { sectionOf } from "../text/language.ts";
import type { Paragraph } from "../text/paragraphs.ts";
import { ArticleText } from "./article-text.ts";
import { joinAudio } from "./join-audio.ts";
import { ReadingProgress } from "./reading-progress.ts";
import type { ReadingStatus } from "./reading-status.ts";

const tickMs = 250;

/** A reading that has stood still for this long says that it waits. */
const waitingAfterMs = 1_000;

/** A place in an article, and the elapsed seconds that are shown there. */
export interface ReadingPlace {
  readonly charIndex: number;
  readonly seconds: number;
}

interface ReadingOptions extends Pick<PageContext, "voxledger" | "speaker" | "highlighter" | "signal"> {
  /** Called at each start, because the page may have changed. */
  readonly read: () => Paragraph[];
  readonly params: SpeakParams;
  readonly onChange: () => void;
}

/**
 * Reads an article aloud. Its paragraphs are one speech, so that the next paragraph is loaded while
 * one is played.
 */
export class Reading {
  readonly #options: ReadingOptions;
  readonly #progress = new ReadingProgress();
  #status: ReadingStatus = "idle";
  #article = new ArticleText([]);
  /** The beginning of the current speech in the article's text. */
  #base = 0;
  #speed = 1;
  #isNative = false;
  /** The number of the current speech. Callbacks of earlier speeches have lower numbers. */
  #speech = 0;

  constructor(options: ReadingOptions) {
    this.#options = options;
    this.#readArticle();
    const { voxledger, signal } = options;
    const whileSpeaking = <Kind extends EventKind>(kind: Kind, handle: Listener<Kind>): (() => void) =>
      voxledger.on(kind, (event) => this.isActive && handle(event));
    const removers = [
      whileSpeaking("OnPartStart", (part) => this.#startPart(part)),
      whileSpeaking("OnPartEnd", () => this.#endPart()),
      whileSpeaking("OnPause", () => this.#changeTo("paused")),
      whileSpeaking("OnResume", () => this.#resumed()),
      whileSpeaking("OnVoiceResolved", ({ native }) => {
        this.#isNative = native;
      }),
    ];
    const ticking = setInterval(() => this.#tick(), tickMs);
    signal.addEventListener("abort", () => {
      this.stop();
      clearInterval(ticking);
      for (const remove of removers) remove();
    });
  }

  get status(): ReadingStatus {
    return this.#status;
  }
  get isActive(): boolean {
    return !["idle", "failed", "unavailable"].includes(this.#status);
  }
  /** True if audio is expected, and none was played for a while. */
  get isWaiting(): boolean {
    return this.#expectsAudio && this.#progress.stoodFor(performance.now()) > waitingAfterMs;
  }
  get paragraphs(): readonly Paragraph[] {
    return this.#article.paragraphs;
  }
  get paragraph(): number {
    return this.#article.paragraphAt(this.#progress.charIndex);
  }
  get paragraphCount(): number {
    return this.paragraphs.length;
  }
  /** The share that was read, from 0 to 1. */
  get progress(): number {
    const { length } = this.#article;
    return length === 0 ? 0 : Math.min(this.#progress.charIndex / length, 1);
  }
  get place(): ReadingPlace {
    return { charIndex: Math.floor(this.#progress.charIndex), seconds: this.seconds };
  }
  /** The seconds that were played, at normal speed. They decrease only by a seek. */
  get seconds(): number {
    return this.#progress.seconds;
  }
  get totalSeconds(): number {
    return this.#progress.totalSeconds;
  }
  get speed(): number {
    return this.#speed;
  }
  /** The spoken word on the page, or the beginning of the part if the voice reports no words. */
  get spokenRange(): Range | undefined {
    const { spoken } = this.#progress;
    const inParagraph = (spoken?.charIndex ?? 0) - this.#article.offsetOf(this.paragraph);
    return spoken && this.#currentParagraph?.rangeOf(inParagraph, spoken.charLength);
  }

  /** Starts, pauses or resumes. */
  toggle(): void {
    if (this.isActive && !this.#isPaused) this.pause();
    else this.play();
  }

  play(): void {
    if (!this.isActive) this.#start();
    else if (this.#isPaused) this.#options.voxledger.resume();
  }

  pause(): void {
    if (this.isActive) this.#options.voxledger.pause();
  }

  /** The audio of the whole article. */
  download(): Promise<Blob> {
    this.#readArticle();
    const { voxledger, params } = this.#options;
    return joinAudio(voxledger.articleAudio(this.paragraphs.map(sectionOf), params));
  }

  stop(): void {
    if (this.isActive) this.#options.voxledger.cancel();
  }

  /**
   * Going back from the first paragraph reads it again. Going forward from the last one does
   * nothing.
   */
  skipParagraphs(step: 1 | -1): void {
    const paragraph = Math.max(this.paragraph + step, 0);
    if (paragraph < this.paragraphCount) this.#goTo(this.#article.offsetOf(paragraph));
  }

  /** Goes to the word at this progress. */
  seek(progress: number): void {
    this.#goTo(progress * this.#article.length);
  }

  /** Goes to the word that is spoken at this time. */
  seekToSeconds(seconds: number): void {
    const inArticle = Math.min(Math.max(seconds, 0), this.totalSeconds);
    this.#goTo(this.#progress.charIndexAt(inArticle), inArticle);
  }

  /** Goes to a place that was remembered. */
  goTo({ charIndex, seconds }: ReadingPlace): void {
    this.#goTo(charIndex, seconds);
  }

  /** Reads from the word at this point of the page, or from the beginning of the paragraph. */
  startAt(element: Element, point?: { readonly node: Node; readonly offset: number }): void {
    this.#readArticle();
    const index = this.paragraphs.findIndex((paragraph) => paragraph.element === element);
    if (index < 0) return;
    const inParagraph = point && this.paragraphs[index]?.charIndexAt(point.node, point.offset);
    this.#moveTo(this.#article.offsetOf(index) + (inParagraph ?? 0));
    this.#start();
  }

  setSpeed(speed: number): void {
    this.#measure();
    this.#speed = speed;
    if (this.isActive) this.#options.voxledger.setSpeed(speed); // otherwise another article may be playing
    if (this.isActive && this.#isNative) this.#restart(); // a native voice keeps its rate until it stops
    this.#options.onChange();
  }

  get #isPaused(): boolean {
    return this.#status === "paused";
  }

  get #expectsAudio(): boolean {
    return this.#status === "loading" || this.#status === "playing";
  }

  get #currentParagraph(): Paragraph | undefined {
    return this.paragraphs[this.paragraph];
  }

  #readArticle(): void {
    this.#article = new ArticleText(this.#options.read());
    this.#progress.setLength(this.#article.length);
  }

  /** Moves to the word at this place. Without these seconds, its time is estimated. */
  #moveTo(charIndex: number, seconds?: number): void {
    this.#unmark();
    this.#progress.moveTo(this.#article.wordAt(charIndex), seconds);
  }

  #goTo(charIndex: number, seconds?: number): void {
    this.#moveTo(charIndex, seconds);
    if (this.isActive) this.#restart();
    else this.#options.onChange();
  }

  /** What is paused stays paused: it loads the audio of its new place. */
  #restart(): void {
    const wasPaused = this.#isPaused;
    this.#start();
    if (wasPaused) this.pause();
  }

  /** Speaks from the current place to the end of the article. */
  #start(): void {
    const { speaker, params } = this.#options;
    const speech = ++this.#speech;
    this.#unmark();
    this.#progress.leavePart();
    this.#readArticle();
    if (this.paragraphCount === 0) {
      this.#changeTo("idle");
      return;
    }
    const place = this.#article.wordAt(this.#progress.charIndex);
    const { paragraph } = this;
    const base = this.#article.offsetOf(paragraph);
    this.#status = "idle"; // events of the speech that ends now are not those of the next one
    const onboundary: SpeakParams["onboundary"] = (charIndex, name, boundary) => {
      if (speech === this.#speech && name === "word") this.#showWord(base + charIndex, boundary);
    };
    const rest = this.paragraphs.slice(paragraph).map(sectionOf);
    const spoken = speaker.readArticle(rest, { ...params, startAt: place - base, onboundary }, this.#speed);
    this.#base = base;
    this.#progress.expectAudio(performance.now());
    this.#changeTo("loading");
    spoken.then(
      ({ cancelled }) => speech === this.#speech && this.#end("idle", cancelled),
      (error) => speech === this.#speech && this.#end(isOutage(error) ? "unavailable" : "failed"),
    );
  }

  #startPart({ charIndex, text, startAt = 0 }: TextPart): void {
    const part = { charIndex: this.#base + charIndex, length: text.length, startAt };
    const { seconds = 0 } = this.#options.voxledger.position ?? {};
    this.#progress.startPart(part, seconds, performance.now());
    this.#showParagraph();
    // Browsers report a start that the reader's pause has overtaken.
    this.#changeTo(this.#isPaused ? "paused" : "playing");
  }

  #endPart(): void {
    this.#measure();
    this.#progress.endPart(performance.now());
  }

  #resumed(): void {
    this.#progress.expectAudio(performance.now());
    this.#changeTo(this.#progress.isInPart ? "playing" : "loading");
  }

  #showWord(charIndex: number, { charLength }: Boundary): void {
    this.#progress.setWord({ charIndex, charLength });
    this.#showParagraph();
    const paragraph = this.#currentParagraph;
    const inParagraph = charIndex - this.#article.offsetOf(this.paragraph);
    if (paragraph) this.#options.highlighter.showWord(paragraph, inParagraph, charLength);
  }

  #showParagraph(): void {
    const paragraph = this.#currentParagraph;
    if (paragraph) this.#options.highlighter.showParagraph(paragraph);
  }

  /** The next start continues here, unless the article was read to its end. */
  #end(status: "idle" | "failed" | "unavailable", keepsPlace = true): void {
    this.#unmark();
    this.#progress.leavePart();
    if (!keepsPlace) this.#progress.moveTo(0, 0);
    this.#changeTo(status);
  }

  #unmark(): void {
    const paragraph = this.#currentParagraph;
    if (paragraph) this.#options.highlighter.clear(paragraph);
  }

  #measure(): void {
    const { voxledger } = this.#options;
    const now = performance.now();
    if (this.#status !== "playing") return;
    // A native voice has no position, and waits for no network. An older library knows none.
    if (this.#isNative || !("position" in voxledger)) this.#progress.measureTime(this.#speed, now);
    else if (voxledger.position) this.#progress.measure(voxledger.position, now);
  }

  #tick(): void {
    if (!this.#expectsAudio) return;
    this.#measure();
    this.#options.onChange();
  }

  #changeTo(status: ReadingStatus): void {
    this.#measure();
    this.#status = status;
    this.#options.onChange();
  }
}
