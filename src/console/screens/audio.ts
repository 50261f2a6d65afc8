import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { AudioDetails as KnownAudio, StoredFile } from "../../application/audio/audio-reports.ts";
import type { Mark } from "../../domain/synthesis/marks.ts";
import { Confirm } from "../components/dialog.ts";
import { Empty, FactList, Loaded } from "../components/status.ts";
import { type Column, numberColumn, Table } from "../components/table.ts";
import { formatBytes, formatCount, formatTime } from "../format.ts";
import { html } from "../html.ts";
import { linkTo, type ScreenProps } from "../routing.ts";
import { useMayChange, useSession } from "../session.ts";
import { readMarks } from "../speak.ts";
import { useData, useGet } from "../use-data.ts";

interface Public {
  readonly headers: readonly (readonly [name: string, value: string | null])[];
  readonly marks: readonly Mark[];
}

/** Shows the service's data about the audio with this hash. */
export const AudioScreen = ({ params: { hash = "" } }: ScreenProps): VNode => {
  const data = useGet<KnownAudio>(`admin/sounds/${encodeURIComponent(hash)}`);
  return html`<p><a href=${linkTo(["sounds"])}>All audio</a></p>
    <h1>Audio details</h1>
    <p class="mono">${hash}</p>
    <${Loaded} data=${data} what="Reading">
      ${(audio: KnownAudio) => html`<${Facts} audio=${audio} /><${Files} audio=${audio} />
        <p><a href="../reproduce">Compute it again from its text</a>, if a natural voice spoke it.</p>
        <${Actions} hash=${hash} onDone=${data.reload} />`}
    <//>`;
};

const Facts = ({ audio: { servings, asOfPosition } }: { audio: KnownAudio }): VNode => {
  const asOf = `Last 31 days, as of position ${formatCount(asOfPosition)}.`;
  if (!servings) return html`<${Empty}>Not served in the last 31 days. ${asOf}<//>`;
  const { engine, voice, lang, format, served, characters, from, firstAt, lastAt } = servings;
  const facts = [
    ["Engine", engine],
    ["Voice", voice],
    ["Language", lang],
    ["Format", format],
    ["Served", formatCount(served)],
    ["Synthesized", formatCount(from.miss)],
    ["Shared a synthesis", formatCount(from.coalesced)],
    ["From memory", formatCount(from.memory)],
    ["From the store", formatCount(from.store)],
    ["Charged characters", formatCount(characters)],
    ["First served", formatTime(firstAt)],
    ["Last served", formatTime(lastAt)],
  ];
  return html`<p class="as-of">${asOf}</p><${FactList} facts=${facts} />`;
};

const fileColumns: readonly Column<StoredFile>[] = [
  {
    title: "Object",
    value: ({ name }) => name,
    view: ({ name, path }) =>
      path === undefined
        ? html`<span class="mono hash">${name}</span>`
        : html`<a class="mono hash" href=${`..${path}`}>${path}</a>`,
  },
  { title: "Address", value: (file) => (file.public ? "public" : "only its website") },
  numberColumn({ title: "Size", value: ({ bytes }) => bytes, format: formatBytes }),
  numberColumn({
    title: "Duration",
    value: ({ seconds }) => seconds,
    format: (seconds) => `${seconds.toFixed(2)} s`,
  }),
  { title: "Last used (UTC)", value: ({ usedAt }) => usedAt, view: ({ usedAt }) => formatTime(usedAt) },
];

const Files = ({ audio: { objects } }: { audio: KnownAudio }): VNode => {
  const audio = objects.find(({ path, isMarks }) => path !== undefined && !isMarks);
  return html`<h2>In the store</h2>
    <${Table} caption="Objects" columns=${fileColumns} rows=${objects} idOf=${({ name }: StoredFile) => name}
      empty="Not stored: it was deleted, or never written." />
    ${audio?.path && html`<${Listen} name=${audio.path.slice(1)} hasMarks=${objects.some(({ isMarks }) => isMarks)} />`}`;
};

/** The public audio, as a CDN receives it. */
const Listen = ({ name, hasMarks }: { name: string; hasMarks: boolean }): VNode => {
  const { api } = useSession();
  const load = async (signal: AbortSignal): Promise<Public> => {
    const { headers } = await api.open(name, { method: "HEAD", signal });
    const marksName = name.replace(/\.[a-z0-9]+$/, ".marks.json");
    const marks = hasMarks ? await readMarks(api, marksName, signal) : [];
    const shown = ["cache-control", "etag", "content-type", "content-length", "link"];
    const pairs = shown.map((header) => [header, headers.get(header)] as const);
    return { headers: pairs.filter(([, value]) => value !== null), marks };
  };
  const data = useData(load, [name, hasMarks]);
  return html`<audio controls preload="none" src=${`../${name}`} aria-label="The audio"></audio>
    <${Loaded} data=${data} what="Reading the address">
      ${({ headers, marks }: Public) => html`<h2>Headers for caches</h2>
        <dl class="facts">${headers.map(([header, value]) => html`<dt key=${header}>${header}</dt><dd class="mono">${value}</dd>`)}</dl>
        <h2>Marks</h2>
        <${Table} caption="Marks" columns=${markColumns} rows=${marks} empty="It has no marks." idOf=${(mark: Mark) => `${mark.type} ${mark.time} ${mark.start}`} />`}
    <//>`;
};

const markColumns: readonly Column<Mark>[] = [
  { title: "Time (ms)", isNumber: true, value: ({ time }) => time },
  { title: "Type", value: ({ type }) => type },
  { title: "From character", isNumber: true, value: ({ start }) => start },
  { title: "To character", isNumber: true, value: ({ end }) => end },
];

const Actions = ({ hash, onDone }: { hash: string; onDone: () => void }): VNode | null => {
  const { api, notify } = useSession();
  const [asked, setAsked] = useState<"purge" | "delete">();
  if (!useMayChange()) return null;
  const close = () => setAsked(undefined);
  const path = `admin/audio/${encodeURIComponent(hash)}`;
  const run = async (method: string, address: string, done: string) => {
    const { purged } = await api.send<{ purged: boolean }>(method, address);
    notify({ text: `${done} ${purged ? "The CDN was purged." : "No CDN is configured."}` });
    onDone();
  };
  return html`<div class="actions">
      <button type="button" onClick=${() => setAsked("purge")}>Purge the CDN</button>
      <button type="button" class="danger" onClick=${() => setAsked("delete")}>Delete</button>
    </div>
    ${
      asked === "purge" &&
      html`<${Confirm} title="Purge this audio from the CDN?" action="Purge" onClose=${close}
        onConfirm=${() => run("POST", `${path}/purge`, "The audio stays in the store.")}>
        <p>Caches forget it, and fetch it again on request.</p>
      <//>`
    }
    ${
      asked === "delete" &&
      html`<${Confirm} title="Delete this audio?" action="Delete" isDangerous onClose=${close}
        onConfirm=${() => run("DELETE", path, "The audio was deleted.")}>
        <p>It is removed from the store, the memory of all instances and the CDN. This cannot be undone. Audio of a free engine is made
          again, with the same bytes, when it is requested; audio of a website's own provider is paid for again.</p>
      <//>`
    }`;
};
