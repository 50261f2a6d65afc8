import { expect } from "chai";
import fc from "fast-check";
import { equalBytes, toHex } from "../../../../src/domain/bytes.ts";
import {
  appendLeaf,
  emptyTree,
  leafHash,
  type MerkleTree,
  rootOf,
} from "../../../../src/domain/ledger/seals/merkle.ts";
import { createProofBuilder, provesInclusion } from "../../../../src/domain/ledger/seals/merkle-proof.ts";

/**
 * The leaves and roots that the tests of the reference implementations of Certificate Transparency
 * use.
 */
const leaves = [
  "",
  "00",
  "10",
  "2021",
  "3031",
  "40414243",
  "5051525354555657",
  "606162636465666768696a6b6c6d6e6f",
];
const roots = [
  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
  "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
  "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
  "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
  "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
  "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
  "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
  "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];

const treeOf = (hashes: readonly Uint8Array[]): MerkleTree => hashes.reduce(appendLeaf, emptyTree);

describe("the Merkle tree", () => {
  it("has the roots of the reference implementations at every size", () => {
    const hashes = leaves.map((leaf) => leafHash(Buffer.from(leaf, "hex")));
    const found = roots.map((_, size) => toHex(rootOf(treeOf(hashes.slice(0, size)))));
    expect(found).to.deep.equal(roots);
  });

  it("hashes the largest power of two smaller than its size on the left, as RFC 6962 defines", () => {
    const defined = (hashes: readonly Uint8Array[]): Uint8Array => {
      const [first] = hashes;
      if (hashes.length === 1 && first) return first;
      const left = 2 ** (Math.ceil(Math.log2(hashes.length)) - 1);
      return rootOf({
        size: 2,
        edge: appendLeaf(appendLeaf(emptyTree, defined(hashes.slice(0, left))), defined(hashes.slice(left)))
          .edge,
      });
    };
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1, maxLength: 200 }), (texts) => {
        const hashes = texts.map((text) => leafHash(text));
        const tree = treeOf(hashes);
        expect(equalBytes(rootOf(tree), defined(hashes))).to.equal(true);
        expect(tree.edge).to.have.length(tree.size.toString(2).replaceAll("0", "").length);
      }),
    );
  });
});

describe("a proof of inclusion", () => {
  const built = (texts: readonly string[]) => {
    const hashes = texts.map((text) => leafHash(text));
    const builder = createProofBuilder();
    for (const [index, leaf] of hashes.entries())
      builder.add(leaf, index % 3 === 0 ? String(index) : undefined);
    return { hashes, proofs: builder.proofs(), tree: { size: hashes.length, root: rootOf(treeOf(hashes)) } };
  };
  const someTexts = fc.array(fc.string(), { minLength: 1, maxLength: 200 });

  it("is accepted for each leaf that was followed, at every size of the tree", () => {
    fc.assert(
      fc.property(someTexts, (texts) => {
        const { hashes, proofs, tree } = built(texts);
        expect(proofs.size).to.equal(Math.ceil(hashes.length / 3));
        for (const [name, proof] of proofs) {
          expect(proof.index).to.equal(Number(name));
          expect(provesInclusion(proof, hashes[proof.index] as Uint8Array, tree)).to.equal(true);
        }
      }),
    );
  });

  it("is refused for another leaf, index, path, size or root", () => {
    fc.assert(
      fc.property(someTexts, (texts) => {
        const { hashes, proofs, tree } = built(texts);
        const other = leafHash("another leaf");
        for (const proof of proofs.values()) {
          const { index, path } = proof;
          const leaf = hashes[index] as Uint8Array;
          expect(provesInclusion(proof, other, tree)).to.equal(false);
          expect(provesInclusion(proof, leaf, { ...tree, root: other })).to.equal(false);
          expect(provesInclusion({ index: -1, path }, leaf, tree)).to.equal(false);
          expect(provesInclusion({ index: tree.size, path }, leaf, tree)).to.equal(false);
          expect(provesInclusion({ index, path: [...path, other] }, leaf, tree)).to.equal(false);
          if (path.length === 0) continue;
          expect(provesInclusion({ index, path: path.slice(1) }, leaf, tree)).to.equal(false);
          expect(provesInclusion({ index, path: path.with(0, other) }, leaf, tree)).to.equal(false);
          expect(provesInclusion(proof, leaf, { ...tree, size: 1 })).to.equal(false);
        }
      }),
    );
  });
});
