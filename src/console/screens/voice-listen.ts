import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { KeyDetails } from "../../application/accounts/keys.ts";
import type { Mark } from "../../domain/synthesis/marks.ts";
import { isAbort } from "../api.ts";
import { Field } from "../components/field.ts";
import { Plot } from "../components/plot.ts";
import { Empty, Failed, Loading } from "../components/status.ts";
import { type Column, Table } from "../components/table.ts";
import { formatMilliseconds } from "../format.ts";
import { html } from "../html.ts";
import { useSession } from "../session.ts";
import { type SpokenSound, speak } from "../sound.ts";
import { useData } from "../use-data.ts";

interface Asked {
  readonly apiKey: string;
  readonly text: string;
  /** A number for each request, so that the same text can be asked for again. */
  readonly round: number;
}

/** Speaks a text with the chosen voices, one or two to compare, at the expense of a key. */
export const Listen = ({ voices }: { voices: readonly string[] }): VNode => {
  const { api } = useSession();
  const [asked, setAsked] = useState<Asked | undefined>();
  const keys = useData(
    (signal) =>
      api.get<{ keys: KeyDetails[] }>("admin/keys", { query: { limit: 25, status: "active" }, signal }),
    [],
  );
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    const [apiKey, text] = [String(fields.get("apiKey")), String(fields.get("text"))];
    setAsked({ apiKey, text, round: (asked?.round ?? 0) + 1 });
  };
  return html`<section class="card stack">
    <h2>Listen</h2>
    <form class="listen" onSubmit=${submit}>
      <${Field} as="textarea" label="Text" control=${{ name: "text", required: true, rows: 2, defaultValue: "The train to Oxford leaves at nine." }} />
      <${Field} label="Key that is charged" hint="The request has this key's voices, lexicons and limits." control=${{ name: "apiKey", required: true, list: "paying-keys", autocomplete: "off" }} />
      <datalist id="paying-keys">
        ${keys.value?.keys.map(({ apiKey, websiteName }) => html`<option key=${apiKey} value=${apiKey}>${websiteName}</option>`)}
      </datalist>
      <button type="submit" class="primary" disabled=${voices.length === 0}>
        ${voices.length === 2 ? "Compare the two voices" : "Speak"}
      </button>
    </form>
    ${voices.length === 0 && html`<${Empty}>Choose one voice in the table, or two to compare.<//>`}
    <div class="grid">
      ${voices.map((voice) => html`<${Spoken} key=${voice} voice=${voice} asked=${asked} />`)}
    </div>
  </section>`;
};

type Outcome =
  | { readonly status: "silent" }
  | { readonly status: "speaking" }
  | { readonly status: "failed"; readonly error: unknown }
  | { readonly status: "spoken"; readonly sound: SpokenSound; readonly url: string };

const Spoken = ({ voice, asked }: { voice: string; asked: Asked | undefined }): VNode => {
  const { api } = useSession();
  const [outcome, setOutcome] = useState<Outcome>({ status: "silent" });
  useEffect(() => {
    if (!asked) return;
    const controller = new AbortController();
    const { signal } = controller;
    let url: string | undefined;
    setOutcome({ status: "speaking" });
    speak(api, { ...asked, voice, signal }).then(
      (sound) => {
        if (signal.aborted) return;
        url = URL.createObjectURL(sound.blob);
        setOutcome({ status: "spoken", sound, url });
      },
      (error: unknown) => {
        if (!isAbort(error)) setOutcome({ status: "failed", error });
      },
    );
    return () => {
      controller.abort();
      if (url) URL.revokeObjectURL(url);
    };
  }, [asked, voice]);
  return html`<div class="stack">
    <h3>${voice}</h3>
    ${outcome.status === "speaking" && html`<${Loading} what="Synthesizing" />`}
    ${outcome.status === "failed" && html`<${Failed} error=${outcome.error} />`}
    ${outcome.status === "spoken" && html`<${Sound} voice=${voice} sound=${outcome.sound} url=${outcome.url} />`}
  </div>`;
};

const Sound = ({ voice, sound, url }: { voice: string; sound: SpokenSound; url: string }): VNode => {
  const { times, levels, words, provenance, engineAnswerMs } = sound;
  return html`
    <audio controls src=${url} aria-label=${`The text, spoken by ${voice}`}></audio>
    <p class="as-of">Audio from: ${provenance}. Answered in ${formatMilliseconds(engineAnswerMs)}.</p>
    <${Plot}
      title=${`Waveform of ${voice}`}
      x=${times}
      series=${[{ label: "level", values: levels, kind: "area" as const }]}
      markers=${words.map(({ time, value }) => ({ x: time / 1_000, label: value }))}
      isTime=${false}
      xTitle="Seconds"
      formatX=${(seconds: number) => seconds.toFixed(2)}
      formatY=${(level: number) => level.toFixed(3)}
      height=${160}
    />
    ${
      words.length > 0 &&
      html`<details>
        <summary>Show the words of ${voice} as a table</summary>
        <${Table} caption=${`Words of ${voice}`} columns=${wordColumns} rows=${words} idOf=${({ start }: Mark) => start} />
      </details>`
    }
  `;
};

const wordColumns: readonly Column<Mark>[] = [
  { id: "time", title: "Milliseconds", isNumber: true, value: ({ time }) => time },
  { id: "word", title: "Word", value: ({ value }) => value },
];
