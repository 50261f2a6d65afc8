import type { SherpaSpec } from "../../protocol.ts";
import type { SherpaModel, SherpaOrder } from "../../sherpa.ts";
import type { ToolProcess } from "../exit-failure.ts";
import { type SpeakerProcess, startSpeaker } from "../speaker-process.ts";
import { abandoned, speakOnce, type TakenSpeaker } from "../text-job.ts";

interface Model {
  speaker: SpeakerProcess<SherpaOrder> | undefined;
  /** Resolves when the last text that was admitted has ended. */
  free: Promise<void>;
  idle: NodeJS.Timeout | undefined;
}

/** At most one process per model, for one text at a time. It is started when the first text arrives, and ends when idle. */
export const createModelPool = () => {
  const models = new Map<string, Model>();

  const modelNamed = (name: string): Model => {
    const model = models.get(name) ?? { speaker: undefined, free: Promise.resolve(), idle: undefined };
    models.set(name, model);
    return model;
  };
  const forget = (model: Model, speaker: SpeakerProcess<SherpaOrder>): void => {
    if (model.speaker === speaker) model.speaker = undefined;
  };
  const speakerOf = (model: Model, options: SherpaModel): SpeakerProcess<SherpaOrder> => {
    if (model.speaker) return model.speaker;
    const speaker = start(options);
    void speaker.gone.then(() => forget(model, speaker));
    model.speaker = speaker;
    return speaker;
  };
  const take = async (options: SherpaModel, signal: AbortSignal): Promise<TakenSpeaker<SherpaOrder>> => {
    const model = modelNamed(options.name);
    const before = model.free;
    const { promise, resolve: end } = Promise.withResolvers<void>();
    model.free = promise;
    await before;
    try {
      if (signal.aborted) throw abandoned;
      clearTimeout(model.idle);
      const speaker = speakerOf(model, options);
      const unload = (): void => {
        forget(model, speaker);
        speaker.kill();
      };
      const release = (): void => {
        model.idle = setTimeout(unload, options.idleMs);
        end();
      };
      return { speaker, release };
    } catch (error) {
      end(); // `spawn` throws if the machine is out of memory
      throw error;
    }
  };

  return {
    /** Its input is the parts of an order, as JSON. */
    acquire: ({ model, speaker, speed }: SherpaSpec): ToolProcess =>
      speakOnce(
        (parts): SherpaOrder => ({ speaker, speed, parts: JSON.parse(parts) }),
        (signal) => take(model, signal),
      ),
    kill: (): void => {
      for (const { speaker } of models.values()) speaker?.kill();
    },
  };
};

const start = ({ name, config, threads, memoryBytes }: SherpaModel): SpeakerProcess<SherpaOrder> =>
  startSpeaker({
    name: `The model ${name}`,
    program: new URL("./speaker.ts", import.meta.url),
    args: [JSON.stringify({ config, threads })],
    memoryBytes,
    // Its threads must not delay the service and the short texts of other tools.
    lowPriority: true,
  });
