import type { Audio } from "./compute.ts";
import { decode, digestOf, firstDifference, isCompared } from "./samples.ts";
import { type Caller, createService, type NamedAudio, type SpokenRequest } from "./service.ts";

/** The page's own settings, which the service writes into it. */
interface PageData {
  readonly base: string;
  /** The digests of the files that voices need, by their names. */
  readonly files: Readonly<Record<string, string>>;
}

/** The findings of the page. */
interface Verdict {
  readonly text: string;
  readonly state: "equal" | "different" | "failed";
}

const verdict = (text: string, state: Verdict["state"] = "failed"): Verdict => ({ text, state });

const element = (id: string): HTMLElement => {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no #${id}.`);
  return found;
};

const form = element("request") as HTMLFormElement;
const facts = element("facts");
const result = element("result");
const actions = element("actions");
const { base = "", files = "{}" } = document.body.dataset;
const page: PageData = { base, files: JSON.parse(files) };

const show = (name: string, value: string): void => {
  const [term, description] = [document.createElement("dt"), document.createElement("dd")];
  term.textContent = name;
  description.textContent = value;
  facts.append(term, description);
};

const conclude = ({ text, state }: Verdict): void => {
  result.textContent = text;
  result.className = state;
};

const callerIn = (fields: FormData): Caller => ({
  role: fields.get("role") === "operator" ? "operator" : "website",
  apiKey: String(fields.get("apiKey")).trim(),
  secret: String(fields.get("secret")).trim(),
});

const requestIn = (fields: FormData): SpokenRequest => ({
  text: String(fields.get("text")),
  voice: String(fields.get("voice")),
  pitch: Number(fields.get("pitch")),
  rate: Number(fields.get("rate")),
  volume: Number(fields.get("volume")),
  format: String(fields.get("format")),
});

type Service = ReturnType<typeof createService>;

interface Comparison {
  readonly service: Service;
  readonly caller: Caller;
  readonly request: SpokenRequest;
  /** The name from the ledger, as its owner typed it in. */
  readonly ledgerName: string;
}

const compare = async ({ service, caller, request, ledgerName }: Comparison): Promise<Verdict> => {
  const named = await service.name(request);
  showName(named);
  const isSameName = ledgerName === "" || (await digestOf(ledgerName)) === named.nameDigest;
  if (ledgerName !== "") {
    show("Name from the ledger", isSameName ? "the name of this audio" : "the name of other audio");
  }
  if (!isSameName) return verdict("This is not what was charged under that name.", "different");
  const name = named.name ?? (ledgerName || undefined);
  if (caller.role === "operator" && name !== undefined) await showLedgerEntry(service, name);
  if (!named.reproducible) {
    return verdict("This voice is not reproducible: it runs in a native program.");
  }
  const stored = name === undefined ? undefined : await service.stored(name, named.format);
  if (stored) return await compareSamples(request.text, named, stored);
  return offerSpeech({ service, caller, request, ledgerName }, named);
};

const showName = ({
  name,
  nameDigest,
  voice,
  engine,
  reproducible,
  recipe,
  characters,
}: NamedAudio): void => {
  show("Name", name ?? "shown after a charge of this key: see below");
  show("SHA-256 of the name", nameDigest);
  show("Voice", `${voice} (${recipe.voice}, engine ${engine})`);
  show("Reproducible", reproducible ? "yes" : "no");
  show("Versions", recipe.tools);
  show("Characters", String(characters));
};

const showLedgerEntry = async (service: Service, name: string): Promise<void> => {
  const servings = await service.servings(name);
  show(
    "Ledger, last 31 days",
    servings
      ? `served ${servings.served} times, ${servings.characters} characters charged, first ${servings.firstAt}, last ${servings.lastAt}`
      : "no entry",
  );
};

/**
 * Offers to have the audio spoken, because it is not stored, or because the key may not know its
 * name before it is charged.
 */
const offerSpeech = (comparison: Comparison, named: NamedAudio): Verdict => {
  const { service, caller, request } = comparison;
  if (caller.role === "operator") return verdict("The audio is not stored.");
  if (request.pitch !== 1 || request.volume !== 1) {
    return verdict(
      "The audio cannot be read: the service speaks wav and flac at normal pitch and volume only.",
    );
  }
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = `Have it spoken, and charged with ${named.characters} characters`;
  button.addEventListener("click", () => {
    button.remove();
    void attempt(async () => {
      const audio = await service.speak(request, named);
      const charged = await service.name(request);
      show("Name that was charged", charged.name ?? "unknown");
      return await compareSamples(request.text, charged, audio);
    });
  });
  actions.append(button);
  return verdict("The name of this audio is known to this page only after a charge, or from the ledger.");
};

const compareSamples = async (text: string, named: NamedAudio, file: ArrayBuffer): Promise<Verdict> => {
  if (!isCompared(named.format)) return verdict("Only wav, flac and pcm hold the samples that are compared.");
  const stored = await decode(named.format, file);
  const { compute } = await import("./compute.ts");
  const computed = await compute(text, named, readFile);
  show("SHA-256 of the stored samples", await digestOf(stored.samples));
  show("SHA-256 of the computed samples", await digestOf(computed.samples));
  return verdictOn(stored, computed, named);
};

const verdictOn = (stored: Audio, computed: Audio, { recipe, format }: NamedAudio): Verdict => {
  if (stored.sampleRate !== computed.sampleRate) {
    return verdict(
      format === "pcm"
        ? `The stored audio was resampled to ${stored.sampleRate} Hz: compare it in wav.`
        : "The voice failed, and its fallback spoke this audio: try again.",
    );
  }
  const at = firstDifference(stored.samples, computed.samples);
  if (at === undefined) {
    return verdict(`All ${stored.samples.length} samples are equal: this is what was charged.`, "equal");
  }
  const icu = /icu ([^;]+)/.exec(recipe.tools)?.[1] ?? "unknown";
  return verdict(
    `Sample ${at} is the first that differs (at ${(at / stored.sampleRate).toFixed(3)} s). The text may have been prepared otherwise: ` +
      `the service did it with ICU ${icu}, and browsers do not tell the version of theirs.`,
    "different",
  );
};

/** A file of a voice, whose content must have the digest in its address. */
const readFile = async (name: string): Promise<Uint8Array<ArrayBuffer>> => {
  const digest = page.files[name];
  if (digest === undefined) throw new Error(`The service does not have the file ${name}.`);
  const response = await fetch(`${page.base}reproduce/files/${digest}`);
  if (!response.ok) throw new Error(`The file ${name} cannot be read (${response.status}).`);
  const bytes = await response.arrayBuffer();
  const found = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const hex = Array.from(found, (byte) => byte.toString(16).padStart(2, "0")).join("");
  if (hex !== digest) throw new Error(`The file ${name} is damaged.`);
  return new Uint8Array(bytes);
};

const attempt = async (task: () => Promise<Verdict>): Promise<void> => {
  form.inert = true;
  result.setAttribute("aria-busy", "true");
  conclude(verdict("Computing…", "equal"));
  try {
    conclude(await task());
  } catch (error) {
    conclude(verdict(error instanceof Error ? error.message : String(error)));
  } finally {
    form.inert = false;
    result.removeAttribute("aria-busy");
  }
};

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const fields = new FormData(form);
  const [caller, request] = [callerIn(fields), requestIn(fields)];
  facts.replaceChildren();
  actions.replaceChildren();
  const ledgerName = String(fields.get("ledgerName")).trim().toLowerCase();
  const service = createService(page.base, caller);
  void attempt(() => compare({ service, caller, request, ledgerName }));
});
