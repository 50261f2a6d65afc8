import { readFileSync } from "node:fs";

/**
 * What the library's kernels are chosen by: processors that differ in these may round differently, so they are part of
 * the version of models whose bytes are exact.
 */
const relevant = ["avx", "avx2", "fma", "avx512f", "avx512_vnni", "avx_vnni", "amx_tile"].concat(
  ["asimddp", "asimdhp", "i8mm", "bf16", "sve"], // arm64
);

/** Such as `x64 avx avx2 fma`. */
export const instructionSets = (): string => {
  const [, flags = ""] = /^(?:flags|Features)\s*:(.*)$/m.exec(cpuInfo()) ?? [];
  const present = new Set(flags.trim().split(/\s+/));
  return [process.arch, ...relevant.filter((name) => present.has(name))].join(" ");
};

const cpuInfo = (): string => {
  try {
    return readFileSync("/proc/cpuinfo", "utf8");
  } catch {
    return ""; // not on Linux
  }
};
