import type { SocketConstructor } from "./dom.ts";
import type { VoxledgerError } from "./errors.ts";
import type { OpenedSound } from "./one-ahead.ts";
import { type ClientMessage, randomId, readMessage } from "./socket-messages.ts";
import { createSocketSound, refused, type SocketSound } from "./socket-sound.ts";
import { aborted, unreachable } from "./time-limit.ts";
import type { SynthesisQuery } from "./transport.ts";

/** A connection over which sounds are asked for, several at a time. */
export interface SpeechSocket {
  /** Resolves with the sound's first piece. The signal ends the sound, even after that. @throws {VoxledgerError} */
  synthesize(request: SynthesisQuery, signal: AbortSignal): Promise<OpenedSound>;
  /** Ends it and whatever is still under way. */
  close(): void;
}

const connecting = 0;
const open = 1;

/** Begins to connect; what is asked for until then is asked as soon as the connection is there. */
export const openSpeechSocket = ({
  WebSocket,
  url,
  timeout,
  idleMs,
  onClosed,
}: {
  WebSocket: SocketConstructor;
  url: string;
  /** Milliseconds that the service may be silent while a sound is awaited. */
  timeout: number;
  /** So long after the last sound the connection is ended. */
  idleMs: number;
  /** Nothing more can be asked of it. */
  onClosed: () => void;
}): SpeechSocket => {
  const socket = new WebSocket(url);
  socket.binaryType = "arraybuffer";
  const sounds = new Map<string, SocketSound>();
  const unsent = new Map<string, ClientMessage>();
  let idle: ReturnType<typeof setTimeout> | undefined;
  let reason: VoxledgerError | undefined;

  const close = (): void => {
    onClosed();
    socket.close();
  };
  const send = (message: ClientMessage): void => {
    if (socket.readyState === open) socket.send(JSON.stringify(message));
    else if (socket.readyState === connecting) unsent.set(message.id, message);
  };
  const forget = (id: string): void => {
    sounds.delete(id);
    if (sounds.size === 0) idle = setTimeout(close, idleMs);
  };

  socket.addEventListener("open", () => {
    for (const message of unsent.values()) send(message);
    unsent.clear();
  });
  socket.addEventListener("message", ({ data }) => {
    const message = readMessage(data);
    if (message?.id !== undefined) sounds.get(message.id)?.take(message);
    else if (message) reason = refused(message); // the close that it is the reason for comes next
  });
  socket.addEventListener("close", () => {
    onClosed();
    for (const sound of sounds.values()) sound.fail(reason ?? unreachable());
    clearTimeout(idle);
  });

  return {
    synthesize: async (request, signal) => {
      if (signal.aborted) throw aborted(signal.reason);
      const id = randomId();
      clearTimeout(idle);
      const sound = createSocketSound({
        timeout,
        onOver: (how) => {
          signal.removeEventListener("abort", leave);
          forget(id);
          if (how === "overdue") close(); // a connection that died silently never tells so
          if (how === "left" && !unsent.delete(id)) send({ type: "cancel", id });
        },
      });
      const leave = (): void => sound.fail(aborted(signal.reason));
      sounds.set(id, sound);
      signal.addEventListener("abort", leave);
      send({ type: "synthesize", id, request });
      return await sound.opened;
    },
    close,
  };
};
