import {
  openSubprocessHost,
  type SubprocessHost,
  type SubprocessHostOptions,
} from "../../src/subprocess/subprocess-host.ts";
import { type HostSupervisor, superviseHostProcess } from "../../src/subprocess/supervisor.ts";
import { pollTimeoutMs } from "./processes.ts";

/**
 * A host that encodes only with processes of ffmpeg, because comparing the libraries with ffmpeg
 * takes 0.4 s of CPU time. Jobs wait for as long as a busy machine needs.
 */
export const openToolHost = (options: SubprocessHostOptions = {}): Promise<SubprocessHost> =>
  openSubprocessHost({
    encodersAhead: {},
    encodesByLibrary: false,
    queue: { queueTimeoutMs: pollTimeoutMs },
    ...options,
  });

const helpers = new Map<string, HostSupervisor>();

/**
 * For `superviseHelper`: the hosts of this process with the same options share a helper process,
 * which ends with this one. Starting one takes 0.4 s of CPU time.
 */
export const shareHelper: typeof superviseHostProcess = (options) => {
  const key = JSON.stringify(options);
  const helper = helpers.get(key) ?? superviseHostProcess(options, () => undefined);
  helpers.set(key, helper);
  return { ...helper, close: async () => undefined };
};
