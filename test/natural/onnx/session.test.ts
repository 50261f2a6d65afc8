import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { onnxRuntime, openOnnxSession, Tensor } from "../../../src/natural/onnx/session.ts";
import { modelOf } from "./model.ts";

const wasm = readFileSync(fileURLToPath(import.meta.resolve("onnxruntime-web/ort-wasm-simd-threaded.wasm")));

describe("A session of the ONNX runtime", () => {
  it("runs a model", async () => {
    const session = await openOnnxSession({ wasm, model: modelOf("Neg") });
    expect(session.inputs).to.deep.equal(["x"]);
    const { y } = await session.run({ x: new Tensor("float32", [1, -2, 0.5], [3]) });
    expect([...(y?.data ?? [])]).to.deep.equal([-1, 2, -0.5]);
    await session.close();
  });

  it("multiplies a value within the model by a further input", async () => {
    const scaled = { value: "y", input: "factor" };
    const session = await openOnnxSession({ wasm, model: modelOf("Neg"), scaled });
    expect(session.inputs).to.deep.equal(["x", "factor"]);
    const x = new Tensor("float32", [1, -2, 0.5], [3]);
    for (const factor of [1, 0.5]) {
      const { y } = await session.run({ x, factor: new Tensor("float32", [factor], [1]) });
      expect([...(y?.data ?? [])]).to.deep.equal([-factor, 2 * factor, -factor / 2]);
    }
    await session.close();
  });

  it("refuses to scale a value that the model does not have", async () => {
    const scaled = { value: "z", input: "factor" };
    const refused = await openOnnxSession({ wasm, model: modelOf("Neg"), scaled }).catch(
      (error: unknown) => error,
    );
    expect(refused).to.have.property("message", "The model has no value z.");
  });

  it("refuses a file that is no model", async () => {
    const model = modelOf("Neg").slice(0, -20);
    const refused = await openOnnxSession({ wasm, model }).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(Error);
  });

  it("names the runtime's version, which is part of recipes", () => {
    expect(onnxRuntime).to.equal("onnxruntime-web 1.30.0");
  });

  // The disassembly of this file (`wasm-objdump -d` of wabt) has no instruction of the relaxed SIMD
  // proposal. Check another file in the same way before its digest is written here.
  it("uses the file whose instructions are known to give the same result on every processor", () => {
    const digest = createHash("sha256").update(wasm).digest("hex");
    expect(digest).to.equal("3398c10d07d229bd91b364548e130e0e51a8e5704b88c7c083ebbeb78842dee2");
  });
});
