import { isOutage } from "../../errors.ts";
import type { Boundary, EventKind, Listener, SpeakParams, TextPart } from "../../voxledger.ts";
import type { PageContext } from "../feature.ts";
import { sectionOf } from "../text/language.ts";
import type { Paragraph } from "../text/paragraphs.ts";
import { ReadingTime } from "./reading-time.ts";

type ReadingStatus = "idle" | "loading" | "playing" | "paused" | "failed" | "unavailable";

/** The library's offsets are those of a text that joins its sections by this. */
const paragraphSeparator = "\n\n";
const tickMs = 250;

/** The part that is being played. */
interface CurrentPart {
  /** The index in the text of the whole article. */
  readonly charIndex: number;
  readonly length: number;
  /** The seconds that were played so far, at normal speed. */
  seconds: number;
  /** The last word's beginning in the article, if the voice reports words. */
  word?: number;
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
  #time = new ReadingTime();
  #status: ReadingStatus = "idle";
  #paragraphs: readonly Paragraph[];
  /** The beginning of each paragraph in the article's text. */
  #offsets: readonly number[] = [];
  #length = 0;
  #paragraph = 0;
  /** The beginning of the current speech in the article's text. */
  #base = 0;
  #part: CurrentPart | undefined;
  #speed = 1;
  #isNative = false;
  /** The number of the current speech. Callbacks of earlier speeches have lower numbers. */
  #speech = 0;
  #lastTick = 0;

  constructor(options: ReadingOptions) {
    this.#options = options;
    this.#paragraphs = this.#readArticle();
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
  get paragraph(): number {
    return this.#paragraph;
  }
  get paragraphCount(): number {
    return this.#paragraphs.length;
  }
  /** The share that was read, from 0 to 1. */
  get progress(): number {
    return this.#length === 0 ? 0 : Math.min(this.#position / this.#length, 1);
  }
  get seconds(): number {
    return this.#time.secondsAt(this.#position) / this.#speed;
  }
  get totalSeconds(): number {
    return this.#time.secondsAt(this.#length) / this.#speed;
  }

  /** Starts, pauses or resumes. */
  toggle(): void {
    const { voxledger } = this.#options;
    if (!this.isActive) this.#start(this.#paragraph);
    else if (this.#status === "paused") voxledger.resume();
    else voxledger.pause();
  }

  /**
   * Going back from the first paragraph reads it again. Going forward from the last one does
   * nothing.
   */
  skipParagraphs(step: 1 | -1): void {
    if (this.#paragraph + step < this.#paragraphs.length) this.#goTo(this.#paragraph + step);
  }

  /** Goes to the paragraph at this progress. */
  seek(progress: number): void {
    const position = progress * this.#length;
    this.#goTo(this.#offsets.findLastIndex((offset) => offset <= position));
  }

  startAt(element: Element): void {
    this.#paragraphs = this.#readArticle();
    const index = this.#paragraphs.findIndex((paragraph) => paragraph.element === element);
    if (index >= 0) this.#start(index);
  }

  setSpeed(speed: number): void {
    this.#measure();
    this.#speed = speed;
    if (this.isActive) this.#options.voxledger.setSpeed(speed); // otherwise another article may be playing
    if (this.isActive && this.#isNative) this.#start(this.#paragraph); // a native voice keeps its rate until it stops
    this.#options.onChange();
  }

  stop(): void {
    if (this.isActive) this.#options.voxledger.cancel();
  }

  get #position(): number {
    const part = this.#part;
    if (!part) return this.#offsets[this.#paragraph] ?? 0;
    const estimated = part.charIndex + Math.min(part.seconds / this.#time.secondsPerCharacter, part.length);
    return part.word ?? estimated;
  }

  #readArticle(): Paragraph[] {
    const paragraphs = this.#options.read();
    let length = 0;
    this.#offsets = paragraphs.map(({ text }) => {
      const offset = length;
      length += text.length + paragraphSeparator.length;
      return offset;
    });
    if (length !== this.#length) this.#time = new ReadingTime(); // another text
    this.#length = length;
    return paragraphs;
  }

  #goTo(index: number): void {
    const inArticle = Math.min(Math.max(index, 0), this.#paragraphs.length - 1);
    if (this.isActive) {
      this.#start(inArticle);
      return;
    }
    this.#paragraph = inArticle;
    this.#options.onChange();
  }

  /** Speaks from this paragraph to the end of the article. */
  #start(index: number): void {
    const { speaker, params } = this.#options;
    const speech = ++this.#speech;
    this.#unmark();
    this.#paragraphs = this.#readArticle();
    if (this.#paragraphs.length === 0) {
      this.#changeTo("idle");
      return;
    }
    this.#paragraph = Math.min(index, this.#paragraphs.length - 1);
    this.#part = undefined;
    const base = this.#offsets[this.#paragraph] ?? 0;
    const rest = this.#paragraphs.slice(this.#paragraph);
    this.#status = "idle"; // events of the speech that ends now are not those of the next one
    const onboundary: SpeakParams["onboundary"] = (charIndex, name, boundary) => {
      if (speech === this.#speech && name === "word") this.#showWord(base + charIndex, boundary);
    };
    const spoken = speaker.speak(rest.map(sectionOf), { ...params, onboundary }, this.#speed);
    this.#base = base;
    this.#changeTo("loading");
    spoken.then(
      ({ cancelled }) => speech === this.#speech && this.#end("idle", cancelled),
      (error) => speech === this.#speech && this.#end(isOutage(error) ? "unavailable" : "failed"),
    );
  }

  #startPart({ charIndex, text }: TextPart): void {
    this.#part = { charIndex: this.#base + charIndex, length: text.length, seconds: 0 };
    this.#lastTick = performance.now();
    this.#showParagraphAt(this.#part.charIndex);
    this.#changeTo("playing");
  }

  #endPart(): void {
    this.#measure();
    if (this.#part) this.#time.record(this.#part);
    if (this.#part) this.#part.word = this.#part.charIndex + this.#part.length;
  }

  #resumed(): void {
    this.#lastTick = performance.now();
    this.#changeTo(this.#part ? "playing" : "loading");
  }

  #showWord(charIndex: number, { charLength }: Boundary): void {
    if (this.#part) this.#part.word = charIndex;
    this.#showParagraphAt(charIndex);
    const paragraph = this.#paragraphs[this.#paragraph];
    const inParagraph = charIndex - (this.#offsets[this.#paragraph] ?? 0);
    if (paragraph) this.#options.highlighter.showWord(paragraph, inParagraph, charLength);
  }

  #showParagraphAt(charIndex: number): void {
    this.#paragraph = Math.max(
      this.#offsets.findLastIndex((offset) => offset <= charIndex),
      0,
    );
    const paragraph = this.#paragraphs[this.#paragraph];
    if (paragraph) this.#options.highlighter.showParagraph(paragraph);
  }

  /**
   * Ends the reading. The next start continues with the current paragraph, unless the article was
   * read to its end.
   */
  #end(status: "idle" | "failed" | "unavailable", keepsParagraph = true): void {
    this.#unmark();
    this.#part = undefined;
    if (!keepsParagraph) this.#paragraph = 0;
    this.#changeTo(status);
  }

  #unmark(): void {
    const paragraph = this.#paragraphs[this.#paragraph];
    if (paragraph) this.#options.highlighter.clear(paragraph);
  }

  /** Adds the time since the last measurement to the part that is played. */
  #measure(): void {
    const now = performance.now();
    if (this.#part && this.#status === "playing") {
      this.#part.seconds += ((now - this.#lastTick) / 1_000) * this.#speed;
    }
    this.#lastTick = now;
  }

  #tick(): void {
    if (this.#status !== "playing") return;
    this.#measure();
    this.#options.onChange();
  }

  #changeTo(status: ReadingStatus): void {
    this.#measure();
    this.#status = status;
    this.#options.onChange();
  }
}
