import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Voice } from "../../domain/synthesis/speech.ts";
import { Confirm } from "../components/dialog.ts";
import { Field } from "../components/field.ts";
import { html } from "../html.ts";
import { useSession } from "../session.ts";

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
    const voiceIDs = String(fields.get("voiceIDs"))
      .split(/[\s,]+/)
      .filter(Boolean)
      .map(Number);
    const { flag, gender, lang } = Object.fromEntries(fields);
    await api.send("POST", "admin/voices", { name, flag, gender, lang, voiceIDs });
    onAdded();
    const undo = async () => {
      await api.send("DELETE", `admin/voices/${encodeURIComponent(name)}`);
      onAdded();
    };
    notify({ text: `Added the voice ${name}. Undo deprecates it.`, undo });
  };
  const title = from ? `Add an alias of ${from.name}` : "Add a voice";
  return html`<${Confirm} title=${title} action="Add voice" onConfirm=${add} onClose=${onClose}>
    <p>The voice joins the catalog of all websites. It can later be deprecated, and not removed.</p>
    <${Field} label="Name" control=${{ name: "name", required: true, maxlength: 100 }} />
    <${Field} label="Language" control=${{ name: "lang", required: true, defaultValue: from?.lang ?? "", placeholder: "en-GB" }} />
    <${Field} label="Country of the flag" control=${{ name: "flag", required: true, pattern: "[a-z]{2}", defaultValue: from?.flag ?? "", placeholder: "gb" }} />
    <${Field} label="Gender" as="select" control=${{ name: "gender" }}>
      <option value="f" selected=${from?.gender === "f"}>f</option>
      <option value="m" selected=${from?.gender === "m"}>m</option>
    <//>
    <${Field} label="Ids of system voices, the preferred one first" control=${{ name: "voiceIDs", required: true, pattern: "[0-9, ]+", defaultValue: from?.voiceIDs.join(", ") ?? "" }} />
  <//>`;
};

/** Another name for the system voices of a voice. */
export const AddAlias = ({ voice, onAdded }: { voice: Voice; onAdded: () => void }): VNode => {
  const [isOpen, setOpen] = useState(false);
  return html`<button type="button" class="quiet" onClick=${() => setOpen(true)}>Alias…<span class="hidden"> of ${voice.name}</span></button>
    ${isOpen && html`<${AddVoice} from=${voice} onAdded=${onAdded} onClose=${() => setOpen(false)} />`}`;
};

export const DeprecateVoice = ({ voice, onChange }: { voice: Voice; onChange: () => void }): VNode => {
  const { api, notify } = useSession();
  const [isOpen, setOpen] = useState(false);
  const path = `admin/voices/${encodeURIComponent(voice.name)}`;
  const deprecate = async () => {
    await api.send("DELETE", path);
    onChange();
    const undo = async () => {
      await api.send("PATCH", path, { deprecated: false });
      onChange();
    };
    notify({ text: `Deprecated ${voice.name}.`, undo });
  };
  return html`<button type="button" class="quiet danger" onClick=${() => setOpen(true)}>Deprecate…<span class="hidden"> ${voice.name}</span></button>
    ${
      isOpen &&
      html`<${Confirm} title="Deprecate this voice?" action="Deprecate" isDangerous onConfirm=${deprecate} onClose=${() => setOpen(false)}>
        <p>${voice.name} is marked as deprecated in lists. Requests may still use it.</p>
      <//>`
    }`;
};
