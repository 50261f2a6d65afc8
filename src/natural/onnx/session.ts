import { env, InferenceSession, Tensor } from "onnxruntime-web/wasm";

export { Tensor };

/** Tensors by the names of the model's inputs or outputs. */
export type Tensors = Readonly<Record<string, Tensor>>;

export interface OnnxSession {
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /**
   * Runs the model, one run at a time.
   * @throws if the model refuses the inputs
   */
  run(inputs: Tensors): Promise<Tensors>;
  close(): Promise<void>;
}

interface OnnxFiles {
  /**
   * `onnxruntime-web/ort-wasm-simd-threaded.wasm`, which has no instructions that differ between
   * processors. Only the first call needs it.
   */
  readonly wasm: Uint8Array<ArrayBuffer>;
  readonly model: Uint8Array<ArrayBuffer>;
  /** A value within the model that becomes an output, too. */
  readonly innerOutput?: string;
  /** A value within the model that is multiplied by one number, which is another input. */
  readonly scaled?: Scaling;
}

interface Scaling {
  readonly value: string;
  readonly input: string;
}

/** It is a part of the recipe of audio, because another version may round differently. */
export const onnxRuntime = `onnxruntime-web ${env.versions.web}`;

/**
 * Loads a model. It runs in one thread, so that sums have one order: equal inputs give equal bytes
 * on every machine.
 * @throws if WebAssembly or the runtime refuses one of the files
 */
export const openOnnxSession = async ({
  wasm,
  model,
  innerOutput,
  scaled,
}: OnnxFiles): Promise<OnnxSession> => {
  env.wasm.wasmBinary = wasm;
  env.wasm.numThreads = 1;
  const added = [
    ...(innerOutput === undefined ? [] : [outputField(innerOutput)]),
    ...(scaled ? scalingFields(scaled) : []),
  ];
  const file = added.length === 0 ? model : withGraphFields(model, added);
  if (scaled) file.set(outputOf(renamed(scaled.value)), placeOf(model, scaled.value));
  const session = await InferenceSession.create(file, { executionProviders: ["wasm"] });
  return {
    inputs: session.inputNames,
    outputs: session.outputNames,
    run: (inputs) => session.run(inputs),
    close: () => session.release(),
  };
};

/**
 * Adds fields to the graph of a model. Protobuf merges a field that occurs again, so that a second
 * `graph` with the added fields extends the first.
 */
const withGraphFields = (model: Uint8Array, fields: readonly Uint8Array[]): Uint8Array<ArrayBuffer> => {
  const added = fields.flatMap((one) => [...field(7, one)]);
  const joined = new Uint8Array(model.length + added.length);
  joined.set(model);
  joined.set(added, model.length);
  return joined;
};

const outputField = (name: string): Uint8Array => field(12, field(1, encode(name)));

/** Adds an input of one number, and a node that multiplies the renamed value by it. */
const scalingFields = ({ value, input }: Scaling): readonly Uint8Array[] => {
  const shape = field(1, oneElement);
  const type = field(1, floats, field(2, shape));
  return [
    field(
      1,
      field(1, encode(renamed(value))),
      field(1, encode(input)),
      outputOf(value),
      field(4, encode("Mul")),
    ),
    field(11, field(1, encode(input)), field(2, type)),
  ];
};

/** `elem_type` FLOAT. */
const floats = Uint8Array.of(0x08, 1);
/** `dim_value` 1. */
const oneElement = Uint8Array.of(0x08, 1);

/** Returns a name of the same length. */
const renamed = (value: string): string => `~${value.slice(1)}`;

/** The `output` of a node. */
const outputOf = (value: string): Uint8Array => field(2, encode(value));

/**
 * Finds the field in which a node declares a value as its output. Nodes that read the value name it
 * in another field.
 * @throws {Error} if the model has no such value
 */
const placeOf = (model: Uint8Array, value: string): number => {
  const at = indexOf(model, outputOf(value));
  if (at < 0) throw new Error(`The model has no value ${value}.`);
  return at;
};

const indexOf = (bytes: Uint8Array, sought: Uint8Array): number => {
  const [first = 0] = sought;
  for (let at = bytes.indexOf(first); at >= 0; at = bytes.indexOf(first, at + 1))
    if (sought.every((byte, index) => bytes[at + index] === byte)) return at;
  return -1;
};

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A field of protobuf with less than 128 bytes. */
const field = (number: number, ...contents: readonly Uint8Array[]): Uint8Array => {
  const content = contents.flatMap((one) => [...one]);
  return Uint8Array.of((number << 3) | 2, content.length, ...content);
};
