import { parentPort } from "node:worker_threads";
import type { Answer, Call, Inbound, Outbound, Protocol } from "./protocol.ts";
import { toFailure } from "./protocol.ts";

/** What a worker does with what it is asked. */
export interface Service<P extends Protocol> {
  receive(calls: readonly Call<P>[]): void;
  /** No call comes any more: answer what is open and free everything. */
  close(): void;
}

export type Reply = (answers: readonly Answer[]) => void;

/** Serves the main thread from within a worker until it says "close", or says why the service cannot be. */
export const serve = <P extends Protocol>(start: (reply: Reply) => Service<P>): void => {
  const port = parentPort;
  if (port === null) throw new Error("this runs in a worker thread only");
  const send = (message: Outbound): void => port.postMessage(message);
  try {
    const service = start((answers) => send({ answers }));
    port.on("message", (message: Inbound<P>) => {
      if (message !== "close") return service.receive(message);
      service.close();
      port.close();
    });
  } catch (error) {
    send({ refused: toFailure(error) });
  }
};
