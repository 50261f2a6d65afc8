import type { VNode } from "preact";
import type { AudioList, ListedAudio } from "../../application/audio/audio-reports.ts";
import { Field, fieldsOf } from "../components/field.ts";
import { Plot } from "../components/plot.ts";
import { Figure, Loaded } from "../components/status.ts";
import { type Column, numberColumn, Table } from "../components/table.ts";
import { dayMs, formatBytes, formatCount, formatDay, formatShare, formatTime } from "../format.ts";
import { html } from "../html.ts";
import { changeQuery, linkTo, navigate, type ScreenProps } from "../routing.ts";
import { useGet } from "../use-data.ts";

const shown = 25;

/**
 * Estimates the bytes that were served without a new synthesis. Every serving counts with the size
 * of the stored audio, even if it was a part or an interrupted stream.
 */
const bytesFromCache = ({ bytes = 0, served, from }: ListedAudio): number => bytes * (served - from.miss);

const columns: readonly Column<ListedAudio>[] = [
  {
    title: "Sound",
    value: ({ hash }) => hash,
    view: ({ hash }) => html`<a class="mono" href=${linkTo(["sounds", hash])}>${hash.slice(0, 12)}…</a>`,
  },
  { title: "Voice", value: ({ voice }) => voice },
  { title: "Language", value: ({ lang }) => lang },
  { title: "Format", value: ({ format }) => format },
  numberColumn({ title: "Served", value: ({ served }) => served }),
  {
    title: "From cache",
    isNumber: true,
    value: ({ served, from }) => (served - from.miss) / served,
    view: ({ served, from }) => formatShare(served - from.miss, served),
  },
  numberColumn({ title: "Size", value: ({ bytes }) => bytes, format: formatBytes, absent: "not stored" }),
  numberColumn({ title: "Bytes from cache", value: bytesFromCache, format: formatBytes }),
  { title: "Last served (UTC)", value: ({ lastAt }) => lastAt, view: ({ lastAt }) => formatTime(lastAt) },
];

/** The most served audio of a period. */
export const AudioListScreen = ({ route }: ScreenProps): VNode => {
  const asked = Date.parse(route.query.get("last") ?? "");
  const last = formatDay(Number.isNaN(asked) ? Date.now() : asked);
  const first = route.query.get("first") ?? formatDay(Date.parse(last) - 6 * dayMs);
  const to = formatDay(Date.parse(last) + dayMs);
  const data = useGet<AudioList>("admin/sounds", { from: first, to, limit: shown });
  const submit = (event: SubmitEvent) => {
    const { hash, ...days } = fieldsOf(event);
    if (hash) navigate(linkTo(["sounds", hash]));
    else changeQuery(route, days);
  };
  return html`<h1>Audio</h1>
    <form class="filters" onSubmit=${submit}>
      <${Field} label="First day (UTC)" control=${{ type: "date", name: "first", defaultValue: first, required: true }} />
      <${Field} label="Last day (UTC)" control=${{ type: "date", name: "last", defaultValue: last, required: true }} />
      <button type="submit" class="primary">Show</button>
    </form>
    <form class="filters" onSubmit=${submit}>
      <${Field} label="Hash" control=${{ name: "hash", required: true, pattern: "[0-9a-f]{64}", spellcheck: false }}
        hint="64 digits, as in the ETag of the audio." />
      <button type="submit">Open</button>
    </form>
    <${Loaded} data=${data} what="Counting servings">${(list: AudioList) => html`<${Listed} list=${list} />`}<//>`;
};

const Listed = ({ list }: { list: AudioList }): VNode => {
  const { sounds, served, fromCache, distinct, isComplete, asOfPosition } = list;
  const asOf = `as of position ${formatCount(asOfPosition)}`;
  const names = sounds.map(({ hash }) => hash.slice(0, 8));
  const plot = {
    asOf,
    isTime: false,
    xTitle: "Sound",
    x: [...names.keys()],
    formatX: (index: number) => names[index] ?? "",
  };
  const saved = sounds.map(bytesFromCache);
  return html`<div class="stack"><dl class="figures">
      <${Figure} name="Servings" value=${formatCount(served)} note=${asOf} />
      <${Figure} name="From cache" value=${formatShare(fromCache, served)} note=${asOf} />
      <${Figure} name="Sounds" value=${`${formatCount(distinct)}${isComplete ? "" : " or more"}`} note=${asOf} />
    </dl>
    ${
      sounds.length > 0 &&
      html`<div class="grid">
        <${Plot} ...${plot} title="Most served" series=${[{ label: "Servings", kind: "bars", values: sounds.map((audio) => audio.served) }]} />
        <${Plot} ...${plot} title="Bytes served from cache" formatY=${formatBytes}
          series=${[{ label: "Bytes", kind: "bars", values: saved, color: "var(--series-3)" }]} />
      </div>`
    }
    <${Table} caption=${`The ${shown} most served sounds, ${asOf}`} columns=${columns} rows=${sounds} empty="Nothing was served in this period."
      idOf=${({ hash }: ListedAudio) => hash} /></div>`;
};
