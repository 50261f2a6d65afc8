import { eventCases } from "./event-cases.ts";
import { labelCases } from "./label-cases.ts";
import { messageCases } from "./message-cases.ts";
import { miniPlayerCases } from "./mini-player-cases.ts";
import { playerCases } from "./player-cases.ts";
import { voiceCases } from "./voice-cases.ts";

export const cases = [
  ...playerCases,
  ...miniPlayerCases,
  ...voiceCases,
  ...labelCases,
  ...eventCases,
  ...messageCases,
];
