import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { KeyDetails } from "../../application/accounts/keys.ts";
import { Field, formOf } from "../components/field.ts";
import { Plot } from "../components/plot.ts";
import { Empty, Failed, Loading } from "../components/status.ts";
import { type Column, Table } from "../components/table.ts";
import { useTask } from "../components/task.ts";
import { formatMilliseconds } from "../format.ts";
import { html } from "../html.ts";
import { useSession } from "../session.ts";
import { type SpokenAudio, type SpokenWord, speak } from "../speak.ts";
import { useGet } from "../use-data.ts";

interface Asked {
  readonly apiKey: string;
  readonly text: string;
  /** A number for each request, so that the same text can be asked for again. */
  readonly round: number;
}

/** Speaks a text with the chosen voices, one or two to compare, at the expense of a key. */
export const Listen = ({ voices }: { voices: readonly string[] }): VNode => {
  const [asked, setAsked] = useState<Asked>();
  const keys = useGet<{ keys: KeyDetails[] }>("admin/keys", { limit: 25, status: "active" });
  const submit = (event: SubmitEvent) => {
    const fields = formOf(event);
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

const Spoken = ({ voice, asked }: { voice: string; asked: Asked | undefined }): VNode => {
  const { api } = useSession();
  const { status, error, value, run } = useTask<SpokenAudio & { url: string }>();
  useEffect(() => {
    if (!asked) return;
    let url = "";
    run(async (signal) => {
      const audio = await speak(api, { ...asked, voice, signal });
      signal.throwIfAborted();
      url = URL.createObjectURL(audio.blob);
      return { ...audio, url };
    });
    return () => URL.revokeObjectURL(url);
  }, [asked, voice]);
  return html`<div class="stack">
    <h3>${voice}</h3>
    ${status === "running" && html`<${Loading} what="Synthesizing" />`}
    ${status === "failed" && html`<${Failed} error=${error} />`}
    ${value && html`<${Preview} voice=${voice} ...${value} />`}
  </div>`;
};

interface AudioProps extends SpokenAudio {
  readonly voice: string;
  readonly url: string;
}

const Preview = ({ voice, url, times, levels, words, source, responseMs }: AudioProps): VNode =>
  html`
    <audio controls src=${url} aria-label=${`The text, spoken by ${voice}`}></audio>
    <p class="as-of">Audio from: ${source}. Response after ${formatMilliseconds(responseMs)}.</p>
    <${Plot}
      title=${`Waveform of ${voice}`}
      x=${times}
      series=${[{ label: "level", values: levels, kind: "area" as const }]}
      markers=${words.map(({ time, word }) => ({ x: time / 1_000, label: word }))}
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
        <${Table} caption=${`Words of ${voice}`} columns=${wordColumns} rows=${words} idOf=${({ start }: SpokenWord) => start} />
      </details>`
    }
  `;

const wordColumns: readonly Column<SpokenWord>[] = [
  { title: "Milliseconds", isNumber: true, value: ({ time }) => time },
  { title: "Word", value: ({ word }) => word },
];
