import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { VoiceChoiceStatus } from "../../application/catalog/catalog.ts";
import { Confirm, type WithClose } from "../components/dialog.ts";
import { Loaded } from "../components/status.ts";
import { html } from "../html.ts";
import { useChange, useMayChange } from "../session.ts";
import { useGet } from "../use-data.ts";

const path = "admin/voice-choice";

/**
 * Shows and changes whether natural voices speak, on all instances. `onChange` is called after each
 * change.
 */
export const VoiceChoice = ({ onChange }: { readonly onChange: () => void }): VNode => {
  const data = useGet<VoiceChoiceStatus>(path);
  const mayChange = useMayChange();
  const [changing, setChanging] = useState(false);
  const changed = () => {
    data.reload();
    onChange();
  };
  return html`<${Loaded} data=${data} what="Reading which voices speak">
    ${(status: VoiceChoiceStatus) => html`<section class="card" aria-label="Natural voices">
      <h2>${status.choice === "natural" ? "Natural voices speak" : "Classic voices speak"}</h2>
      ${status.voices.length > 0 && html`<p>${status.voices.join(", ")}</p>`}
      ${status.missing.length > 0 && html`<p>Not installed for the instance that responds: ${status.missing.join(", ")}.</p>`}
      ${status.advice && html`<p>${status.advice}</p>`}
      ${mayChange && html`<button type="button" onClick=${() => setChanging(true)}>Use ${otherThan(status)} voices…</button>`}
      ${changing && html`<${Choose} status=${status} onChange=${changed} onClose=${() => setChanging(false)} />`}
    </section>`}
  <//>`;
};

const otherThan = ({ choice }: VoiceChoiceStatus): VoiceChoiceStatus["choice"] =>
  choice === "natural" ? "classic" : "natural";

interface ChooseProps {
  readonly status: VoiceChoiceStatus;
  readonly onChange: () => void;
}

const Choose = ({ status, onChange, onClose }: WithClose<ChooseProps>): VNode => {
  const { notify, send } = useChange(onChange);
  const choice = otherThan(status);
  const choose = async () => {
    await send("PUT", path, { choice });
    notify({ text: `The ${choice} voices speak.`, undo: () => send("PUT", path, { choice: status.choice }) });
  };
  return html`<${Confirm} title=${`Use ${choice} voices`} action=${`Use ${choice} voices`} onConfirm=${choose} onClose=${onClose}>
    <p>Voices keep their names, on all instances. Audio that is synthesized from now on sounds different, and has other addresses.</p>
  <//>`;
};
