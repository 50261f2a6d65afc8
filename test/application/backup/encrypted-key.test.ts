import { expect } from "chai";
import { decryptKey, encryptKey } from "../../../src/application/backup/encrypted-key.ts";
import { BadBackup } from "../../../src/application/backup/manifest.ts";
import { rejection } from "../../support/rejection.ts";

const key = Buffer.alloc(32, 5);
const passphrase = "correct horse battery staple";

describe("the master key in a backup", () => {
  let text: string;
  before(async () => {
    text = await encryptKey(key, "an-id", passphrase);
  });

  const refusal = async (file: string, given = passphrase): Promise<string> => {
    const error = await rejection(decryptKey(file, given));
    expect(error).to.be.instanceOf(BadBackup);
    return (error as Error).message;
  };

  it("is decrypted with the passphrase, however its letters are composed", async () => {
    expect((await decryptKey(text, passphrase)).equals(key)).to.equal(true);
    const composed = await encryptKey(key, "an-id", "schl\u00fcssel zum safe");
    expect((await decryptKey(composed, "schlu\u0308ssel zum safe")).equals(key)).to.equal(true);
  });

  it("is not in the file as it is", () => {
    for (const encoding of ["base64", "hex"] as const) expect(text).not.to.include(key.toString(encoding));
    expect(text).not.to.include(passphrase);
  });

  it("is refused with another passphrase", async () => {
    expect(await refusal(text, `${passphrase} `)).to.include("the passphrase is wrong");
  });

  it("is refused if the file was changed", async () => {
    expect(await refusal(text.replace("an-id", "an-od"))).to.include("or the file is damaged");
    const { tag, ...rest } = JSON.parse(text);
    expect(await refusal(JSON.stringify({ ...rest, tag: tag.slice(4) }))).to.include("is damaged");
    expect(await refusal(JSON.stringify({ ...rest, tag, nonce: "" }))).to.include("is damaged");
    expect(await refusal("{")).to.include("is damaged");
  });
});
