import type { SocketConstructor } from "../dom.ts";
import { VoxledgerError } from "../errors.ts";
import type { OpenedAudio } from "./prefetch.ts";
import { type ClientMessage, randomId, readMessage } from "./socket-messages.ts";
import { createSocketStream, type SocketStream } from "./socket-stream.ts";
import { abortError, networkError } from "./time-limit.ts";
import type { SynthesisQuery } from "./transport.ts";

/** A connection over which sounds are asked for, several at a time. */
export interface SpeechSocket {
  /** Resolves with the sound's first piece. The signal ends the sound, even after that. @throws {VoxledgerError} */
  synthesize(request: SynthesisQuery, signal: AbortSignal): Promise<OpenedAudio>;
  /** Ends it and whatever is still under way. */
  close(): void;
}

/** The WebSocket never opened. Browsers keep the reason, which may be any refusal in HTTP, from the page. */
export class HandshakeFailed extends VoxledgerError {
  constructor() {
    super(
      "The WebSocket could not be opened: the service or a proxy refuses it, or the key has too many sockets open.",
      { code: "NETWORK" },
    );
  }
}

const disconnected = (reason: string): VoxledgerError =>
  reason === ""
    ? networkError()
    : new VoxledgerError(`The service closed the connection: ${reason}`, { code: "NETWORK" });

const connecting = 0;
const open = 1;

/** Begins to connect; what is asked for until then is asked as soon as the connection is there. */
export const openSpeechSocket = ({
  WebSocket,
  url,
  timeout,
  idleMs,
  onServed,
  onClosed,
}: {
  WebSocket: SocketConstructor;
  url: string;
  /** Milliseconds that the service may be silent while a sound is awaited. */
  timeout: number;
  /** Milliseconds after the last sound at which the connection is closed. */
  idleMs: number;
  /** Called with every message: a socket that only opens has not proved anything yet. */
  onServed: () => void;
  /** Called once, when nothing more can be asked of it; with an error if it never served anything. */
  onClosed: (failure?: VoxledgerError) => void;
}): SpeechSocket => {
  const socket = new WebSocket(url);
  socket.binaryType = "arraybuffer";
  const sounds = new Map<string, SocketStream>();
  const unsent = new Map<string, ClientMessage>();
  let idle: ReturnType<typeof setTimeout> | undefined;
  let hasOpened = false;
  let hasServed = false;
  let isClosed = false;

  const leave = (failure?: VoxledgerError): void => {
    if (isClosed) return;
    isClosed = true;
    clearTimeout(idle);
    onClosed(failure);
  };
  const close = (): void => {
    leave();
    socket.close();
  };
  const send = (message: ClientMessage): void => {
    if (socket.readyState === open) socket.send(JSON.stringify(message));
    else if (socket.readyState === connecting) unsent.set(message.id, message);
  };
  const forget = (id: string): void => {
    sounds.delete(id);
    if (sounds.size === 0 && !isClosed) idle = setTimeout(close, idleMs);
  };

  socket.addEventListener("open", () => {
    hasOpened = true;
    for (const message of unsent.values()) send(message);
    unsent.clear();
  });
  socket.addEventListener("message", ({ data }) => {
    const message = readMessage(data);
    hasServed = true;
    onServed();
    if (message?.id !== undefined) sounds.get(message.id)?.receive(message);
  });
  socket.addEventListener("close", ({ reason }) => {
    const failure = hasOpened ? disconnected(reason) : new HandshakeFailed();
    leave(hasServed ? undefined : failure);
    for (const sound of sounds.values()) sound.fail(failure);
  });

  return {
    synthesize: async (request, signal) => {
      if (signal.aborted) throw abortError(signal.reason);
      const id = randomId();
      clearTimeout(idle);
      const sound = createSocketStream({
        timeout,
        onOver: (how) => {
          signal.removeEventListener("abort", cancel);
          forget(id);
          if (how === "overdue") close(); // a connection that died silently never tells so
          if (how === "left" && !unsent.delete(id)) send({ type: "cancel", id });
        },
      });
      const cancel = (): void => sound.fail(abortError(signal.reason));
      sounds.set(id, sound);
      signal.addEventListener("abort", cancel);
      send({ type: "synthesize", id, request });
      return await sound.opened;
    },
    close,
  };
};
