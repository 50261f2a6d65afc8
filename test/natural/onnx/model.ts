/** A model in ONNX's protobuf format. */

const varint = (value: number): number[] =>
  value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];

const integer = (field: number, value: number): number[] => [...varint(field << 3), ...varint(value)];

const bytes = (field: number, content: readonly number[] | string): number[] => {
  const all = typeof content === "string" ? [...Buffer.from(content)] : content;
  return [...varint((field << 3) | 2), ...varint(all.length), ...all];
};

/** A tensor of floats with one dimension. */
const floats = (name: string): number[] => {
  const shape = bytes(1, bytes(2, "n")); // TensorShapeProto.dim.dim_param
  return [...bytes(1, name), ...bytes(2, bytes(1, [...integer(1, 1), ...bytes(2, shape)]))];
};

type Operator = "Exp" | "Tanh" | "Neg";

/** `y` is `x` after one operator. */
export const modelOf = (operator: Operator): Uint8Array<ArrayBuffer> => chainOf(operator, 1);

/** `y` is `x` after `count` times the same operator. */
export const chainOf = (operator: Operator, count: number): Uint8Array<ArrayBuffer> => {
  const valueAt = (index: number): string => (index === 0 ? "x" : index === count ? "y" : `v${index}`);
  const graph = [
    ...Array.from({ length: count }, (_, index) =>
      bytes(1, [...bytes(1, valueAt(index)), ...bytes(2, valueAt(index + 1)), ...bytes(4, operator)]),
    ).flat(),
    ...bytes(2, "graph"),
    ...bytes(11, floats("x")),
    ...bytes(12, floats("y")),
  ];
  return Uint8Array.from([...integer(1, 8), ...bytes(7, graph), ...bytes(8, integer(2, 13))]);
};
