import type { Time } from "../../src/async/time.ts";
import { type Channel, type Handlers, type Message, Port, type Protocol } from "../../src/workers/port.ts";

/** Delivers the messages of one direction, later and in order. */
export type Delivery = (deliver: () => void) => void;

/** Creates two channels that are connected with each other. Messages are copied. */
const linkedChannels = (openDelivery: () => Delivery): readonly [Channel, Channel] => {
  const receivers: ((messages: readonly Message[]) => void)[] = [];
  const channel = (own: 0 | 1): Channel => {
    const deliver = openDelivery();
    return {
      send: (messages) => {
        const copied = structuredClone(messages);
        deliver(() => receivers[1 - own]?.(copied));
      },
      onMessages: (receive) => {
        receivers[own] = receive;
      },
    };
  };
  return [channel(0), channel(1)];
};

/**
 * Creates the ports of a primary and of a worker. By default, each message arrives in a later turn
 * of the event loop. `time` measures the deadlines of calls.
 */
export const linkedPorts = <ToWorker extends Protocol, ToPrimary extends Protocol>({
  openDelivery = () => setImmediate,
  time,
}: {
  readonly openDelivery?: (() => Delivery) | undefined;
  readonly time?: Time;
} = {}): {
  readonly worker: (handlers: Handlers<ToWorker>) => Port<ToPrimary, ToWorker>;
  readonly primary: (handlers: Handlers<ToPrimary>) => Port<ToWorker, ToPrimary>;
} => {
  const [one, other] = linkedChannels(openDelivery);
  return {
    primary: (handlers) => new Port(one, handlers, time),
    worker: (handlers) => new Port(other, handlers, time),
  };
};
