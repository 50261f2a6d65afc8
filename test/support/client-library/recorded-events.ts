import type { EventKind, SpeechEvent, Voxledger } from "../../../src/client/voxledger.ts";

export const eventKinds: readonly EventKind[] = [
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

/** Collects all events of the client, in order. */
export const recordEvents = (client: Voxledger): readonly SpeechEvent[] => {
  const events: SpeechEvent[] = [];
  for (const kind of eventKinds) client.on(kind, (event) => events.push(event));
  return events;
};

/** Resolves with the next event of that kind. */
export const nextEvent = <Kind extends EventKind>(
  client: Voxledger,
  kind: Kind,
): Promise<SpeechEvent<Kind>> =>
  new Promise((resolve) => {
    const removeListener = client.on(kind, (event) => {
      removeListener();
      resolve(event);
    });
  });
