import { type Channel, type Handlers, type Message, Port, type Protocol } from "../../src/workers/port.ts";

/** Two channels that are connected with each other; messages are copied, and arrive later. */
const linkedChannels = (): readonly [Channel, Channel] => {
  const receivers: ((messages: readonly Message[]) => void)[] = [];
  const channel = (own: 0 | 1): Channel => ({
    send: (messages) => {
      const copied = structuredClone(messages);
      setImmediate(() => receivers[1 - own]?.(copied));
    },
    onMessages: (receive) => {
      receivers[own] = receive;
    },
  });
  return [channel(0), channel(1)];
};

/** The ports of a primary and of a worker. */
export const linkedPorts = <ToWorker extends Protocol, ToPrimary extends Protocol>(): {
  readonly worker: (handlers: Handlers<ToWorker>) => Port<ToPrimary, ToWorker>;
  readonly primary: (handlers: Handlers<ToPrimary>) => Port<ToWorker, ToPrimary>;
} => {
  const [one, other] = linkedChannels();
  return { primary: (handlers) => new Port(one, handlers), worker: (handlers) => new Port(other, handlers) };
};
