import type { TimeSource } from "../../application/clock/clock-check.ts";

/**
 * Of `struct timex`, with room to spare. Zeros: `adjtimex` changes nothing and needs no privilege,
 * also in a container.
 */
const structBytes = 512;
/**
 * Returned while no program keeps the clock synchronised, and after the clock was set, until one
 * has synchronised it again.
 */
const timeError = 5;

/** The kernel's state of synchronisation, which NTP clients report to it: see adjtimex(2). */
export const kernelClock: TimeSource = {
  name: "the kernel",
  difference: async () => {
    // Loaded only when it is asked. The program itself is linked with the C library.
    const { default: koffi } = await import("../../subprocess/native-libraries.ts");
    const adjtimex = koffi.load(null).func("int adjtimex(void *)");
    const state: number = adjtimex(Buffer.alloc(structBytes));
    return state >= 0 && state !== timeError ? 0 : undefined;
  },
};
