import koffi from "koffi";
import type { LoadedLibrary } from "./loaded-library.ts";

/**
 * The most memory that is held. A clause frees less while its words are translated: a language has
 * up to 2 MB.
 */
const maxHeldBytes = 32 * 1024 * 1024;

const readWrite = 3; // PROT_READ | PROT_WRITE

const freeType = koffi.proto("void free_callback(void *memory)");

interface Held {
  readonly memory: bigint;
  readonly bytes: number;
}

/**
 * Returns a function that calls a library, and delays what the library frees until the call ends.
 * espeak-ng 1.51 uses a language after it has freed it. If a word's language has no name for a
 * letter, SetTranslator2 frees that language while the word is still translated. Without the delay,
 * the samples would depend on what the memory then contains.
 *
 * During the call, the library's own reference to `free` refers to a function that keeps the
 * memory. For a library without such a reference, nothing is delayed.
 */
export const openDelayedFree = (library: LoadedLibrary) => {
  const libc = openLibc();
  const held: Held[] = [];
  let heldBytes = 0;
  const hold = (memory: bigint | null): void => {
    if (memory === null) return;
    const bytes = Number(libc.usableSize(memory));
    held.push({ memory, bytes });
    heldBytes += bytes;
    while (heldBytes > maxHeldBytes) freeOldest();
  };
  const freeOldest = (): void => {
    const oldest = held.shift();
    if (!oldest) return;
    heldBytes -= oldest.bytes;
    libc.free(oldest.memory);
  };
  const replacement = koffi.register(hold, koffi.pointer(freeType));
  const reference = library.referenceTo("free");
  const isDelayed = reference !== undefined && libc.makeWritable(reference);

  /** Runs `call`, which calls the library. */
  return <Result>(call: () => Result): Result => {
    if (!isDelayed) return call();
    const original = koffi.decode(reference, "uint64") as bigint;
    koffi.encode(reference, "uint64", replacement);
    try {
      return call();
    } finally {
      koffi.encode(reference, "uint64", original);
      while (held.length > 0) freeOldest();
    }
  };
};

const openLibc = () => {
  const libc = koffi.load(null);
  const protect = libc.func("int mprotect(void *address, size_t length, int protection)");
  const pageSize = BigInt(libc.func("int getpagesize()")() as number);
  return {
    free: libc.func("void free(void *memory)") as (memory: bigint) => void,
    usableSize: libc.func("size_t malloc_usable_size(void *memory)") as (memory: bigint) => number,
    /** Makes the table writable: it is read-only if the library was linked with "full RELRO". */
    makeWritable: (address: bigint): boolean =>
      protect(address - (address % pageSize), Number(pageSize), readWrite) === 0,
  };
};
