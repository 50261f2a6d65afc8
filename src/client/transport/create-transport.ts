import type { ServiceApi } from "../api/service-api.ts";
import { chunkTransport } from "./chunk-transport.ts";
import { streamTransport } from "./stream-transport.ts";
import type { Transport, TransportMode } from "./transport.ts";
import { type SocketOptions, websocketTransport } from "./websocket-transport.ts";

export const createTransport = ({
  transport,
  ...options
}: SocketOptions & { readonly transport: TransportMode; readonly service: ServiceApi }): Transport => {
  switch (transport) {
    case "chunks":
      return chunkTransport(options.service);
    case "stream":
      return streamTransport(options.service);
    case "websocket":
      return websocketTransport(options);
  }
};
