import { equalBytes } from "../../bytes.ts";
import { nodeHash } from "./merkle.ts";

/**
 * Proves that a tree has a leaf: the hashes that are needed to compute the root from the leaf (RFC
 * 6962, section 2.1.1).
 */
export interface InclusionProof {
  /** The leaf's place, from 0. */
  readonly index: number;
  readonly path: readonly Uint8Array[];
}

interface Followed {
  readonly name: string;
  readonly index: number;
  readonly path: Uint8Array[];
}

/** The root of a complete subtree, and the leaves in it whose proofs are being built. */
interface Subtree {
  readonly root: Uint8Array;
  readonly followed: readonly Followed[];
}

/**
 * Grows a tree and builds the proofs of some of its leaves. Holds only these proofs and the tree's
 * edge.
 */
export const createProofBuilder = () => {
  const edge: Subtree[] = [];
  let size = 0;

  return {
    get size(): number {
      return size;
    },
    /** Adds a leaf. With a `name`, its proof is built. */
    add: (leaf: Uint8Array, name?: string): void => {
      let last: Subtree = {
        root: leaf,
        followed: name === undefined ? [] : [{ name, index: size, path: [] }],
      };
      for (let subtrees = size; subtrees % 2 === 1; subtrees = Math.floor(subtrees / 2)) {
        last = joined(edge.pop() as Subtree, last);
      }
      edge.push(last);
      size += 1;
    },
    /** The proofs for the tree of all leaves, by name. No leaf can be added after this call. */
    proofs: (): ReadonlyMap<string, InclusionProof> => {
      const all = edge.reduceRight<Subtree | undefined>(
        (right, left) => (right ? joined(left, right) : left),
        undefined,
      );
      return new Map(all?.followed.map(({ name, index, path }) => [name, { index, path }]));
    },
  };
};

const joined = (left: Subtree, right: Subtree): Subtree => {
  for (const { path } of left.followed) path.push(right.root);
  for (const { path } of right.followed) path.push(left.root);
  return {
    root: nodeHash(left.root, right.root),
    followed: left.followed.length === 0 ? right.followed : [...left.followed, ...right.followed],
  };
};

/** True if the tree of this size and root has the leaf (RFC 9162, section 2.1.3.2). */
export const provesInclusion = (
  { index, path }: InclusionProof,
  leaf: Uint8Array,
  tree: { readonly size: number; readonly root: Uint8Array },
): boolean => {
  if (!(Number.isSafeInteger(index) && index >= 0 && index < tree.size)) return false;
  let [node, last, root] = [index, tree.size - 1, leaf];
  for (const sibling of path) {
    if (last === 0) return false;
    if (node % 2 === 1 || node === last) {
      root = nodeHash(sibling, root);
      // A node without a right sibling is moved up unchanged.
      while (node % 2 === 0 && node !== 0) [node, last] = [half(node), half(last)];
    } else {
      root = nodeHash(root, sibling);
    }
    [node, last] = [half(node), half(last)];
  }
  return last === 0 && equalBytes(root, tree.root);
};

const half = (index: number): number => Math.floor(index / 2);
