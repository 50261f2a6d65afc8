import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { WebsiteDetails } from "../../../application/accounts/websites.ts";
import { ApiError } from "../../api.ts";
import { CopyButton } from "../../components/copy-button.ts";
import { Confirm } from "../../components/dialog.ts";
import { Field, valueIn } from "../../components/field.ts";
import { Failed, Loaded } from "../../components/status.ts";
import { html } from "../../html.ts";
import { useChange, useMayChange, useSession } from "../../session.ts";
import { useData } from "../../use-data.ts";
import { type Config, ConfigForm, type Schema } from "./config-form.ts";

interface EditorProps {
  readonly website: WebsiteDetails;
  readonly onChange: () => void;
}

/** The configuration of a website's player, as a form from the service's own schema or as JSON. */
export const ConfigEditor = (props: EditorProps): VNode => {
  const { api } = useSession();
  const schema = useData(async (signal) => schemaIn(await api.get("openapi.json", { signal })), []);
  return html`<section class="card stack">
    <h2>Configuration</h2>
    <${Loaded} data=${schema} what="Reading the schema">
      ${(value: Schema) => html`<${Editor} ...${props} schema=${value} />`}
    <//>
  </section>`;
};

/** The schema of the configuration's requests, with its references resolved. */
const schemaIn = (document: unknown): Schema => {
  const { components, paths } = Object(document);
  const { schema } = paths["/admin/websites/{id}/config"].put.requestBody.content["application/json"];
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== "object" || value === null) return value;
    const { $ref } = value as { $ref?: string };
    if ($ref) return resolve(components.schemas[$ref.split("/").at(-1) ?? ""]);
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, resolve(inner)]));
  };
  return resolve(schema) as Schema;
};

const Editor = ({ website, onChange, schema }: EditorProps & { schema: Schema }): VNode => {
  const mayChange = useMayChange();
  const stored = website.storedConfig as Config;
  const [config, setConfig] = useState<Config>(stored);
  const [text, setText] = useState<string>();
  const [failure, setFailure] = useState<unknown>();
  const [isConfirming, setConfirming] = useState(false);
  const errors = useMemo(() => errorsOf(failure), [failure]);
  const path = `admin/websites/${encodeURIComponent(website.id)}/config`;
  const { notify, send } = useChange(onChange);
  const put = (value: Config) => send("PUT", path, value);
  const save = async () => {
    setFailure(undefined);
    try {
      await put(config);
      notify({ text: `Changed the configuration of ${website.name}.`, undo: () => put(stored) });
    } catch (error) {
      setFailure(error);
    }
  };
  const editText = (event: Event) => {
    setText(valueIn(event));
    const parsed = parseConfig(valueIn(event));
    if (parsed) setConfig(parsed);
  };
  const isJson = text !== undefined;
  const isValid = !isJson || parseConfig(text) !== undefined;
  const asText = JSON.stringify(config, null, 2);
  return html`
    <div class="row">
      <button type="button" aria-pressed=${!isJson} onClick=${() => setText(undefined)}>Form</button>
      <button type="button" aria-pressed=${isJson} onClick=${() => setText(asText)}>JSON</button>
      <${CopyButton} label="Copy JSON" text=${() => asText} />
    </div>
    ${failure !== undefined && html`<${Refusal} error=${failure} errors=${errors} />`}
    ${
      isJson
        ? html`<${Field} as="textarea" label="Stored configuration" hint="Absent members have their defaults." error=${isValid ? undefined : "This is not a JSON object."} control=${{ value: text, rows: 16, spellcheck: false, class: "mono", disabled: !mayChange, onInput: editText }} />`
        : html`<${ConfigForm} schema=${schema} config=${config} errors=${errors} isReadOnly=${!mayChange} onChange=${setConfig} />`
    }
    ${
      mayChange &&
      html`<div class="actions">
        <button type="button" onClick=${() => setConfig(stored)}>Reset</button>
        <button type="button" class="primary" disabled=${!isValid} onClick=${() => setConfirming(true)}>Save configuration…</button>
      </div>`
    }
    ${
      isConfirming &&
      html`<${Confirm} title="Save the configuration?" action="Save" onConfirm=${save} onClose=${() => setConfirming(false)}>
        <p>The pages of ${website.name} use it from their next load. The stored configuration will be:</p>
        <pre tabindex="0">${asText}</pre>
      <//>`
    }
  `;
};

interface RefusalProps {
  readonly error: unknown;
  /** Messages by the path of their member. */
  readonly errors: ReadonlyMap<string, string>;
}

/** The reason why the service did not store the configuration. */
const Refusal = ({ error, errors }: RefusalProps): VNode =>
  html`<${Failed} error=${error} />
    <ul class="error">${[...errors].map(([place, message]) => html`<li key=${place}><code>${place}</code>: ${message}</li>`)}</ul>`;

const parseConfig = (text: string): Config | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Config)
      : undefined;
  } catch {
    return undefined;
  }
};

/** The messages by the member that they concern. */
const errorsOf = (failure: unknown): ReadonlyMap<string, string> =>
  new Map(
    failure instanceof ApiError ? failure.issues.map(({ path, message }) => [path.join("."), message]) : [],
  );
