import type { EventKind, SpeechEvent, Voxledger } from "../../../src/client/voxledger.ts";

const kinds: readonly EventKind[] = [
  "OnLoad",
  "OnReady",
  "OnStart",
  "OnEnd",
  "OnError",
  "OnPause",
  "OnResume",
  "OnServiceSwitched",
  "OnClickEvent",
  "OnAllowSpeechClicked",
  "OnPartStart",
  "OnPartEnd",
  "OnVoiceResolved",
];

/** Keeps every event that the client tells of, in order. */
export const recordEvents = (client: Voxledger): readonly SpeechEvent[] => {
  const told: SpeechEvent[] = [];
  for (const kind of kinds) client.on(kind, (event) => told.push(event));
  return told;
};

/** Resolves with the next event of that kind. */
export const nextEvent = <Kind extends EventKind>(
  client: Voxledger,
  kind: Kind,
): Promise<SpeechEvent<Kind>> =>
  new Promise((resolve) => {
    const off = client.on(kind, (event) => {
      off();
      resolve(event);
    });
  });
