import { EngineFailed, Interrupted, Unavailable } from "../../domain/errors.ts";
import type { SubprocessHost } from "../../subprocess/subprocess-host.ts";
import { ToolFailed } from "../../subprocess/tools.ts";
import type { Decoder } from "./encoder.ts";

export const ffmpegDecoder = (host: SubprocessHost): Decoder =>
  async function* (input, container, signal, waiter) {
    try {
      // The provider's response has begun. It would be wasted if the decoder were refused a slot
      // now.
      yield* host.decode({ container, input }, signal, { waiter, isContinuation: true });
    } catch (error) {
      if (!(error instanceof ToolFailed)) throw error;
      if (error.interrupted) throw new Interrupted({ cause: error });
      if (error.reason === "missing")
        throw new Unavailable("The audio could not be decoded.", 5, { cause: error });
      throw new EngineFailed(`The audio of the speech provider cannot be decoded as ${container}.`, {
        cause: error,
      });
    }
  };
