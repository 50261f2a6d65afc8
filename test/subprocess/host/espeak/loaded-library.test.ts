import { expect } from "chai";
import koffi from "koffi";
import { inspectLibrary } from "../../../../src/subprocess/host/espeak/loaded-library.ts";

describe("a library in memory", () => {
  const espeak = koffi.load("libespeak-ng.so.1");
  const library = inspectLibrary(espeak.symbol("espeak_Synth") as bigint);

  it("has the variables that its functions change", () => {
    const setParameter = espeak.func("int espeak_SetParameter(int parameter, int value, int relative)");
    const before = library.variables.slice();
    setParameter(1, 333, 0); // espeakRATE
    expect(Buffer.from(library.variables).equals(before)).to.equal(false);
    library.variables.set(before);
    const getParameter = espeak.func("int espeak_GetParameter(int parameter, int current)");
    expect(getParameter(1, 1)).to.not.equal(333);
  });

  it("has a reference to each function of another library that it calls", () => {
    const reference = library.referenceTo("free") as bigint;
    const free = koffi.load("libc.so.6").symbol("free") as bigint;
    expect(BigInt(koffi.decode(reference, "uint64") as bigint)).to.equal(free);
    expect(library.referenceTo("no_such_function")).to.equal(undefined);
  });

  it("is refused if the address is in no library", () => {
    expect(() => inspectLibrary(BigInt(koffi.address(koffi.alloc("char", 64))))).to.throw("ELF");
  });
});
