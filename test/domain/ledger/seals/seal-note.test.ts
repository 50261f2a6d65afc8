import { expect } from "chai";
import { createNoteSigner, createNoteVerifier } from "../../../../src/domain/ledger/seals/note-signer.ts";
import { checkpointText, openNote, parseCheckpoint } from "../../../../src/domain/ledger/seals/seal-note.ts";

/** The example of golang.org/x/mod/sumdb/note. */
const seed = Buffer.from("AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz", "base64").subarray(1);
const verifierKey = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
const text =
  "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n";
const note = `${text}\n— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n`;

const keyOf = (line: string) => {
  const key = createNoteVerifier(line);
  if (!key) throw new Error(`not a verifier key: ${line}`);
  return key;
};

describe("a signed note", () => {
  const signer = createNoteSigner("PeterNeumann", seed);

  it("has the bytes that other implementations give it", () => {
    expect(signer.verifierKey).to.equal(verifierKey);
    expect(signer.sign(text)).to.equal(note);
    expect(openNote(note, [keyOf(verifierKey)])).to.equal(text);
  });

  it("is refused after any change of a character", () => {
    const keys = [keyOf(verifierKey)];
    for (let index = 0; index < note.length; index++) {
      for (const replacement of ["", "A", "\n", `${note[index]}A`]) {
        const changed = note.slice(0, index) + replacement + note.slice(index + 1);
        if (changed !== note) expect(openNote(changed, keys), JSON.stringify(changed)).to.equal(undefined);
      }
    }
  });

  it("is refused from another key, even one of the same name", () => {
    const other = createNoteSigner("PeterNeumann", Buffer.alloc(32, 1));
    expect(openNote(note, [])).to.equal(undefined);
    expect(openNote(note, [keyOf(other.verifierKey)])).to.equal(undefined);
    expect(openNote(other.sign(text), [keyOf(verifierKey)])).to.equal(undefined);
    expect(openNote(other.sign(text), [keyOf(verifierKey), keyOf(other.verifierKey)])).to.equal(text);
  });

  it("has a verifier key without an alternative form", () => {
    for (const wrong of [
      "PeterNeumann+c74f20a4+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
      "PeterNeumann+C74F20A3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
      "PeterNeumann+173116ae+ZRpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
      `${verifierKey}\n`,
      `${verifierKey}=`,
      "PeterNeumann",
      "",
    ]) {
      expect(createNoteVerifier(wrong), wrong).to.equal(undefined);
    }
  });
});

describe("a checkpoint", () => {
  /** The example of https://c2sp.org/tlog-checkpoint. */
  const checkpoint = "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n";

  it("has an origin, a size and a root", () => {
    const parsed = parseCheckpoint(checkpoint);
    expect(parsed).to.deep.include({ origin: "example.com/behind-the-sofa", size: 20_852_163 });
    expect(parsed && checkpointText(parsed)).to.equal(checkpoint);
  });

  it("states a restore in a line of its own", () => {
    const restored = `${checkpoint}restored 2026-11-28T12:00:00.000Z\n`;
    const parsed = parseCheckpoint(restored);
    expect(parsed).to.deep.include({ size: 20_852_163, restored: "2026-11-28T12:00:00.000Z" });
    expect(parsed && checkpointText(parsed)).to.equal(restored);
  });

  it("has no alternative form", () => {
    for (const [given, replacement] of [
      ["2085", "02085"],
      ["2I=\n", "2J=\n"],
      ["2I=\n", "2I=\nmore\n"],
      ["2I=\n", "2I="],
      ["CsUY", "CsU"],
    ] as const) {
      expect(parseCheckpoint(checkpoint.replace(given, replacement)), replacement).to.equal(undefined);
    }
  });
});
