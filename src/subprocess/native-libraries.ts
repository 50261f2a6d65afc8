import koffi from "koffi";

/** The stack of a call on a thread. koffi's default of 128 KB is too small for LAME. */
const stackBytes = 512 * 1024;

// koffi refuses this once a library is loaded, so all of them are loaded through this module.
koffi.config({ ...koffi.config(), async_stack_size: stackBytes });

/** Calls native libraries. */
export default koffi;
export type { LibraryHandle } from "koffi";
