import type { VNode } from "preact";
import { chunksOf, type Query } from "../api.ts";
import { TaskView, useTask } from "../components/task.ts";
import { formatBytes } from "../format.ts";
import { html } from "../html.ts";
import { useSession } from "../session.ts";

const formats = [
  { format: "ndjson", title: "NDJSON", extension: "ndjson" },
  { format: "csv", title: "CSV", extension: "csv" },
  { format: "cloudevents", title: "CloudEvents", extension: "cloudevents.ndjson" },
] as const;

/** Downloads of all entries that the filters select. CloudEvents have only charges and voids. */
export const Downloads = ({ filters }: { filters: Query }): VNode => {
  const { api } = useSession();
  const task = useTask<string>();
  const download = ({ format, extension }: (typeof formats)[number]) =>
    task.run(async (signal, onProgress) => {
      const response = await api.open("admin/audit", { query: { ...filters, format }, signal });
      const parts: BlobPart[] = [];
      let bytes = 0;
      for await (const chunk of chunksOf(response)) {
        parts.push(Uint8Array.from(chunk));
        bytes += chunk.length;
        onProgress(formatBytes(bytes));
      }
      signal.throwIfAborted();
      save(new Blob(parts), `voxledger-audit.${extension}`);
      return formatBytes(bytes);
    });
  return html`<div class="downloads">
    <span>Download all that the filters select:</span>
    ${formats.map((each) => html`<button type="button" key=${each.format} onClick=${() => download(each)}>${each.title}</button>`)}
    <${TaskView} task=${task} what="Downloading">${(size: string) => html`<span>Downloaded ${size}.</span>`}<//>
  </div>`;
};

const save = (content: Blob, name: string): void => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
};
