import type { ComponentChildren, VNode } from "preact";
import { useState } from "preact/hooks";
import type { Voice } from "../../domain/synthesis/speech.ts";
import { Confirm } from "../components/dialog.ts";
import { Field } from "../components/field.ts";
import { html } from "../html.ts";
import { useSession } from "../session.ts";

const pathOf = (name: string): string => `admin/voices/${encodeURIComponent(name)}`;

/** All members of a voice but its name, which never changes. */
const VoiceFields = ({ voice }: { voice: Voice | undefined }): VNode =>
  html`
    <${Field} label="Language" control=${{ name: "lang", required: true, defaultValue: voice?.lang ?? "", placeholder: "en-GB" }} />
    <${Field} label="Country of the flag" control=${{ name: "flag", required: true, pattern: "[a-z]{2}", defaultValue: voice?.flag ?? "", placeholder: "gb" }} />
    <${Field} label="Gender" as="select" control=${{ name: "gender" }}>
      <option value="f" selected=${voice?.gender === "f"}>f</option>
      <option value="m" selected=${voice?.gender === "m"}>m</option>
    <//>
    <${Field} label="Ids of system voices, the preferred one first" control=${{ name: "voiceIDs", required: true, pattern: "[0-9, ]+", defaultValue: voice?.voiceIDs.join(", ") ?? "" }} />
  `;

const membersIn = (fields: FormData) => {
  const { flag, gender, lang, voiceIDs } = Object.fromEntries(fields);
  const ids = String(voiceIDs)
    .split(/[\s,]+/)
    .filter(Boolean);
  return { flag, gender, lang, voiceIDs: ids.map(Number) };
};

interface AddVoiceProps {
  /** The values to begin with: those of another voice for an alias. */
  readonly from?: Voice;
  readonly onAdded: () => void;
  readonly onClose: () => void;
}

/** Adds a voice to the catalog. Entries are deprecated, never removed. */
export const AddVoice = ({ from, onAdded, onClose }: AddVoiceProps): VNode => {
  const { api, notify } = useSession();
  const add = async (fields: FormData) => {
    const name = String(fields.get("name")).trim();
    await api.send("POST", "admin/voices", { name, ...membersIn(fields) });
    onAdded();
    const undo = async () => {
      await api.send("DELETE", pathOf(name));
      onAdded();
    };
    notify({ text: `Added the voice ${name}. Undo deprecates it.`, undo });
  };
  const title = from ? `Add an alias of ${from.name}` : "Add a voice";
  return html`<${Confirm} title=${title} action="Add voice" onConfirm=${add} onClose=${onClose}>
    <p>The voice joins the catalog of all websites. It can later be deprecated, and not removed.</p>
    <${Field} label="Name" control=${{ name: "name", required: true, maxlength: 100 }} />
    <${VoiceFields} voice=${from} />
  <//>`;
};

type Action = "alias" | "change" | "deprecated";

interface VoiceActionsProps {
  readonly voice: Voice;
  /** Called after each change. */
  readonly onChange: () => void;
  /** Further buttons. */
  readonly children?: ComponentChildren;
}

/** What an operator can do with a voice of the catalog. */
export const VoiceActions = ({ voice, onChange, children }: VoiceActionsProps): VNode => {
  const [action, setAction] = useState<Action | undefined>();
  const onClose = () => setAction(undefined);
  const props = { voice, onChange, onClose };
  const button = (name: Action, title: string, tone = "") =>
    html`<button type="button" class=${`quiet ${tone}`} onClick=${() => setAction(name)}>${title}<span class="hidden"> ${voice.name}</span></button>`;
  return html`<span class="row">
    ${children} ${button("alias", "Alias…")} ${button("change", "Change…")}
    ${voice.deprecated ? button("deprecated", "Restore…") : button("deprecated", "Deprecate…", "danger")}
    ${action === "alias" && html`<${AddVoice} from=${voice} onAdded=${onChange} onClose=${onClose} />`}
    ${action === "change" && html`<${ChangeVoice} ...${props} />`}
    ${action === "deprecated" && html`<${SetDeprecated} ...${props} />`}
  </span>`;
};

type ActionProps = Pick<VoiceActionsProps, "voice" | "onChange"> & { readonly onClose: () => void };

const ChangeVoice = ({ voice, onChange, onClose }: ActionProps): VNode => {
  const { api, notify } = useSession();
  const { name, flag, gender, lang, voiceIDs } = voice;
  const patch = async (members: object) => {
    await api.send("PATCH", pathOf(name), members);
    onChange();
  };
  const change = async (fields: FormData) => {
    await patch(membersIn(fields));
    notify({ text: `Changed the voice ${name}.`, undo: () => patch({ flag, gender, lang, voiceIDs }) });
  };
  return html`<${Confirm} title=${`Change ${name}`} action="Change voice" onConfirm=${change} onClose=${onClose}>
    <p>The voice changes for all websites: the next requests are spoken by its first available system voice.</p>
    <${VoiceFields} voice=${voice} />
  <//>`;
};

const SetDeprecated = ({ voice, onChange, onClose }: ActionProps): VNode => {
  const { api, notify } = useSession();
  const { name, deprecated: isDeprecated = false } = voice;
  const put = async (deprecated: boolean) => {
    await api.send("PATCH", pathOf(name), { deprecated });
    onChange();
  };
  const change = async () => {
    await put(!isDeprecated);
    notify({ text: `${isDeprecated ? "Restored" : "Deprecated"} ${name}.`, undo: () => put(isDeprecated) });
  };
  const verb = isDeprecated ? "Restore" : "Deprecate";
  return html`<${Confirm} title=${`${verb} this voice?`} action=${verb} isDangerous=${!isDeprecated} onConfirm=${change} onClose=${onClose}>
    <p>${
      isDeprecated
        ? `${name} is no longer marked as deprecated in lists.`
        : `${name} is marked as deprecated in lists. Requests may still use it.`
    }</p>
  <//>`;
};
