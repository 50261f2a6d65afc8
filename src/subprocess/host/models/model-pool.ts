import type { SpeechModel } from "../../models.ts";
import type { ModelSpec } from "../../protocol.ts";
import type { ToolProcess } from "../exit-failure.ts";
import { type SpeakerProcess, startSpeaker } from "../speaker-process.ts";
import { abandoned, speakOnce, type TakenSpeaker } from "../text-job.ts";
import { programOptions } from "./program-options.ts";

type Speaker = SpeakerProcess<unknown>;

interface Model {
  readonly idle: { readonly speaker: Speaker; readonly timer: NodeJS.Timeout }[];
  /** The processes of the model, idle ones included. */
  readonly speakers: Set<Speaker>;
  /** Texts that wait for a process. */
  readonly waiting: (() => void)[];
  /** The number of texts that have a process. */
  busy: number;
}

/**
 * Runs the processes of each model, at most as many as the model allows. A process is started when
 * a text arrives and no process is idle. It ends when it has been idle for long, or has failed at a
 * text.
 */
export const createModelPool = () => {
  const models = new Map<string, Model>();

  const modelNamed = (name: string): Model => {
    const model = models.get(name) ?? { idle: [], speakers: new Set(), waiting: [], busy: 0 };
    models.set(name, model);
    return model;
  };
  const forget = (model: Model, speaker: Speaker): void => {
    model.speakers.delete(speaker);
    const at = model.idle.findIndex((one) => one.speaker === speaker);
    if (at >= 0) clearTimeout(model.idle.splice(at, 1)[0]?.timer);
  };
  const speakerOf = (model: Model, options: SpeechModel): Speaker => {
    const idle = model.idle.pop();
    clearTimeout(idle?.timer);
    if (idle) return idle.speaker;
    const speaker = start(options);
    model.speakers.add(speaker);
    void speaker.gone.then(() => forget(model, speaker));
    // A process that cannot load its model is not given another text while it ends.
    speaker.ready.catch(() => unload(model, speaker));
    return speaker;
  };
  const unload = (model: Model, speaker: Speaker): void => {
    forget(model, speaker);
    speaker.kill();
  };
  const rest = (model: Model, speaker: Speaker, { idleMs }: SpeechModel): void => {
    if (!model.speakers.has(speaker)) return; // it has ended
    model.idle.push({ speaker, timer: setTimeout(unload, idleMs, model, speaker) });
  };
  /** Called when a text has ended. The text that has waited longest may begin instead. */
  const end = (model: Model): void => {
    const next = model.waiting.shift();
    if (next) next();
    else model.busy--;
  };
  const take = async (options: SpeechModel, signal: AbortSignal): Promise<TakenSpeaker<unknown>> => {
    const model = modelNamed(options.name);
    if (model.busy < (options.processes ?? 1)) model.busy++;
    else await new Promise<void>((resolve) => model.waiting.push(resolve));
    try {
      if (signal.aborted) throw abandoned;
      const speaker = speakerOf(model, options);
      const release = (hasFailed: boolean): void => {
        if (hasFailed) unload(model, speaker);
        else rest(model, speaker, options);
        end(model);
      };
      return { speaker, release };
    } catch (error) {
      end(model); // `spawn` throws if the machine is out of memory
      throw error;
    }
  };

  return {
    /** Its input is a request to the model's program, as JSON. */
    acquire: ({ model }: Pick<ModelSpec, "model">): ToolProcess =>
      speakOnce(
        (request): unknown => JSON.parse(request),
        (signal) => take(model, signal),
      ),
    kill: (): void => {
      for (const { speakers } of models.values()) for (const speaker of speakers) speaker.kill();
    },
  };
};

const start = ({ name, program, start, memoryBytes, lowPriority = false }: SpeechModel): Speaker =>
  startSpeaker({
    name: `The model ${name}`,
    program: new URL(`./${program}/speaker.ts`, import.meta.url),
    args: [JSON.stringify(start)],
    ...programOptions[program],
    memoryBytes,
    lowPriority,
  });
