import packageJson from "../../package.json" with { type: "json" };
import { errorMessage } from "../domain/errors.ts";
import { nameListenSetting, type Settings } from "../settings/read-settings.ts";
import { createCaller } from "../wyoming/caller.ts";
import { createInfo } from "../wyoming/info.ts";
import { listenForWyoming, type WyomingServer } from "../wyoming/server.ts";
import type { Access } from "./access.ts";
import type { Core, Runtime } from "./core.ts";
import type { SynthesisParts } from "./speech/synthesis.ts";

/** Listens for clients of the Wyoming protocol. */
export const serveWyoming = async (
  { settings, log, telemetry, resources, shutdownTimeLeft, shared }: Runtime,
  { host, port, key }: NonNullable<Settings["wyoming"]>,
  { core, access, speech }: { readonly core: Core; readonly access: Access; readonly speech: SynthesisParts },
): Promise<WyomingServer> => {
  const caller = createCaller({ ...access, key });
  try {
    caller.current();
  } catch (error) {
    // The key may be issued or reinstated later.
    log.warn(`WYOMING_KEY: ${errorMessage(error)}`);
  }
  const services = {
    ...speech,
    caller,
    info: createInfo(speech.voices, packageJson.version),
    configOf: (websiteId: string) => core.websites.get(websiteId).config,
  };
  const listening = listenForWyoming({
    ...{ host, port, ...shared.sockets.wyoming, services, maxTextCharacters: settings.maxTextCharacters },
    log: log.child({ route: "wyoming", apiKey: key.apiKey }),
  });
  const server = await listening.catch(nameListenSetting("WYOMING_PORT", "WYOMING_HOST"));
  resources.defer(() => server.drain(shutdownTimeLeft()));
  telemetry.wyoming(server.connections);
  return server;
};
