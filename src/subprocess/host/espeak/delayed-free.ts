import koffi from "koffi";

/**
 * The most memory that is held. A clause frees less while its words are translated: a language has
 * up to 2 MB.
 */
const maxHeldBytes = 32 * 1024 * 1024;

/** The offsets and values of elf.h for 64 bits. */
const elf = {
  magic: 0x46_4c_45_7f, // "\x7fELF"
  class: { offset: 4, is64Bit: 2 },
  segments: { offset: 32, size: 54, count: 56 },
  segment: { type: 0, address: 16, dynamic: 2 },
  tag: { size: 16, value: 8, relocationBytes: 2, strings: 5, symbols: 6, relocations: 23 },
  relocation: { size: 24, address: 0, symbol: 12 },
  symbol: { size: 24, name: 0 },
} as const;

const readWrite = 3; // PROT_READ | PROT_WRITE

const locationType = koffi.struct("Dl_info", {
  dli_fname: "const char *",
  dli_fbase: "void *",
  dli_sname: "const char *",
  dli_saddr: "void *",
});
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
 * During the call, the library's own reference to `free` (in its global offset table) refers to a
 * function that keeps the memory. For a library without such a reference, nothing is delayed.
 */
export const openDelayedFree = () => {
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
  /** The place of the reference, which is the same in each copy of the library. */
  let reference: { readonly offset: bigint | undefined } | undefined;
  const locate = (symbol: bigint): bigint | undefined => {
    const location: { dli_fbase?: bigint } = {};
    if (libc.locate(symbol, location) === 0 || location.dli_fbase === undefined) return undefined;
    const base = location.dli_fbase;
    reference ??= { offset: referenceTo("free", base) };
    return reference.offset === undefined ? undefined : base + reference.offset;
  };

  /** Runs `call`, which calls the library. `symbol`: the address of a function of the library. */
  return <Result>(symbol: bigint, call: () => Result): Result => {
    const slot = locate(symbol);
    if (slot === undefined || !libc.makeWritable(slot)) return call();
    const original = koffi.decode(slot, "uint64") as bigint;
    koffi.encode(slot, "uint64", replacement);
    try {
      return call();
    } finally {
      koffi.encode(slot, "uint64", original);
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
    locate: libc.func("dladdr", "int", ["void *", koffi.out(koffi.pointer(locationType))]) as (
      address: bigint,
      location: { dli_fbase?: bigint },
    ) => number,
    /** Makes the table writable: it is read-only if the library was linked with "full RELRO". */
    makeWritable: (address: bigint): boolean =>
      protect(address - (address % pageSize), Number(pageSize), readWrite) === 0,
  };
};

/**
 * Returns the offset of the library's reference to a function; undefined if it has none. `base`:
 * the address at which the library was loaded.
 */
const referenceTo = (name: string, base: bigint): bigint | undefined => {
  if (read32(base) !== elf.magic || read8(base + BigInt(elf.class.offset)) !== elf.class.is64Bit)
    return undefined;
  const tags = tagsOf(base);
  /** Some C libraries leave offsets in the dynamic section, others write addresses. */
  const table = (tag: number): bigint => {
    const value = tags.get(tag) ?? 0n;
    return value < base ? base + value : value;
  };
  const strings = table(elf.tag.strings);
  const symbols = table(elf.tag.symbols);
  const relocations = table(elf.tag.relocations);
  const count = Number(tags.get(elf.tag.relocationBytes) ?? 0n) / elf.relocation.size;
  for (let index = 0; index < count; index++) {
    const relocation = relocations + BigInt(index * elf.relocation.size);
    const symbol = symbols + BigInt(read32(relocation, elf.relocation.symbol) * elf.symbol.size);
    const nameOffset = BigInt(read32(symbol, elf.symbol.name));
    if (koffi.decode(strings + nameOffset, "char", -1) === name)
      return read64(relocation, elf.relocation.address);
  }
  return undefined;
};

/** Returns the values of the dynamic section, by their tags. */
const tagsOf = (base: bigint): ReadonlyMap<number, bigint> => {
  const tags = new Map<number, bigint>();
  const first = base + read64(base, elf.segments.offset);
  const size = read16(base, elf.segments.size);
  for (let index = 0; index < read16(base, elf.segments.count); index++) {
    const segment = first + BigInt(index * size);
    if (read32(segment, elf.segment.type) !== elf.segment.dynamic) continue;
    let at = base + read64(segment, elf.segment.address);
    for (; read64(at) !== 0n; at += BigInt(elf.tag.size)) {
      tags.set(Number(read64(at)), read64(at, elf.tag.value));
    }
  }
  return tags;
};

const read8 = (at: bigint): number => koffi.decode(at, "uint8") as number;
const read16 = (at: bigint, offset = 0): number => koffi.decode(at, offset, "uint16") as number;
const read32 = (at: bigint, offset = 0): number => koffi.decode(at, offset, "uint32") as number;
/** Converts the value, because koffi decodes small ones as numbers. */
const read64 = (at: bigint, offset = 0): bigint => BigInt(koffi.decode(at, offset, "uint64") as bigint);
