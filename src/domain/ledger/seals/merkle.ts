import { hash } from "node:crypto";
import { concatBytes, utf8 } from "../../bytes.ts";

/**
 * A Merkle tree of RFC 6962, section 2.1, that only grows. It holds the roots of its complete
 * subtrees, the largest first. Nothing else is needed to append leaves and to compute the root.
 */
export interface MerkleTree {
  /** The number of leaves. */
  readonly size: number;
  /** One hash for each bit that is set in `size`. */
  readonly edge: readonly Uint8Array[];
}

export const emptyTree: MerkleTree = { size: 0, edge: [] };

const leafPrefix = Uint8Array.of(0);
const nodePrefix = Uint8Array.of(1);

export const leafHash = (leaf: string | Uint8Array): Uint8Array =>
  sha256(leafPrefix, typeof leaf === "string" ? utf8(leaf) : leaf);

export const nodeHash = (left: Uint8Array, right: Uint8Array): Uint8Array => sha256(nodePrefix, left, right);

const sha256 = (...parts: readonly Uint8Array[]): Uint8Array =>
  hash("sha256", concatBytes(...parts), "buffer");

export const appendLeaf = ({ size, edge }: MerkleTree, leaf: Uint8Array): MerkleTree => {
  const grown = [...edge];
  let last = leaf;
  for (let subtrees = size; subtrees % 2 === 1; subtrees = Math.floor(subtrees / 2)) {
    last = nodeHash(grown.pop() as Uint8Array, last);
  }
  return { size: size + 1, edge: [...grown, last] };
};

export const rootOf = ({ edge }: MerkleTree): Uint8Array => {
  const last = edge.at(-1);
  return last === undefined
    ? sha256()
    : edge.slice(0, -1).reduceRight((right, left) => nodeHash(left, right), last);
};
