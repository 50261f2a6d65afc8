import koffi from "koffi";

/** The offsets and values of elf.h for 64 bits. */
const elf = {
  magic: 0x46_4c_45_7f, // "\x7fELF"
  class: { offset: 4, is64Bit: 2 },
  segments: { offset: 32, size: 54, count: 56 },
  segment: { flags: 4, address: 16, bytes: 40 },
  segmentTypes: { load: 1, dynamic: 2, readOnly: 0x64_74_e5_52 },
  writable: 2,
  tag: { size: 16, value: 8, relocationBytes: 2, strings: 5, symbols: 6, relocations: 23 },
  relocation: { size: 24, address: 0, symbol: 12 },
  symbol: { size: 24, name: 0 },
} as const;

const locationType = koffi.struct("Dl_info", {
  dli_fname: "const char *",
  dli_fbase: "void *",
  dli_sname: "const char *",
  dli_saddr: "void *",
});

/** A part of a library's memory, which is only valid while the library is loaded. */
export type Memory = Uint8Array<ArrayBuffer>;

export interface LoadedLibrary {
  /** The memory of the library's variables. */
  readonly variables: Memory;
  /**
   * Returns the address of the library's own reference to a function of another library (in its
   * global offset table); undefined if it has none.
   */
  readonly referenceTo: (name: string) => bigint | undefined;
}

/**
 * Reads the headers of a library in memory, which is in the format ELF for 64 bits. `symbol`: the
 * address of one of its functions.
 * @throws {Error} if the library has another format
 */
export const inspectLibrary = (symbol: bigint): LoadedLibrary => {
  const base = baseOf(symbol);
  const segments = segmentsOf(base);
  return { variables: variablesOf(segments), referenceTo: (name) => referenceTo(name, base, segments) };
};

/** Returns the address at which the library was loaded. */
const baseOf = (symbol: bigint): bigint => {
  const locate = koffi
    .load(null)
    .func("dladdr", "int", ["void *", koffi.out(koffi.pointer(locationType))]) as (
    address: bigint,
    location: { dli_fbase?: bigint },
  ) => number;
  const location: { dli_fbase?: bigint } = {};
  const base = locate(symbol, location) === 0 ? undefined : location.dli_fbase;
  if (
    base === undefined ||
    read32(base) !== elf.magic ||
    read8(base + BigInt(elf.class.offset)) !== elf.class.is64Bit
  )
    throw new Error("The library does not have the format ELF for 64 bits.");
  return base;
};

interface Segment {
  readonly type: number;
  readonly isWritable: boolean;
  readonly start: bigint;
  readonly end: bigint;
}

const segmentsOf = (base: bigint): Segment[] => {
  const first = base + read64(base, elf.segments.offset);
  const size = read16(base, elf.segments.size);
  return Array.from({ length: read16(base, elf.segments.count) }, (_, index) => {
    const header = first + BigInt(index * size);
    const start = base + read64(header, elf.segment.address);
    return {
      type: read32(header),
      isWritable: (read32(header, elf.segment.flags) & elf.writable) !== 0,
      start,
      end: start + read64(header, elf.segment.bytes),
    };
  });
};

/**
 * The linker puts the variables into the last writable segment. This segment may begin with
 * addresses that the loader writes and then makes read-only ("RELRO").
 */
const variablesOf = (segments: readonly Segment[]): Memory => {
  const last = segments.findLast(({ type, isWritable }) => type === elf.segmentTypes.load && isWritable);
  if (!last) throw new Error("The library has no variables.");
  const readOnly = segments.find(({ type }) => type === elf.segmentTypes.readOnly);
  const start = readOnly && readOnly.end > last.start ? readOnly.end : last.start;
  return new Uint8Array(koffi.view(start, Number(last.end - start)));
};

const referenceTo = (name: string, base: bigint, segments: readonly Segment[]): bigint | undefined => {
  const tags = tagsOf(segments);
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
      return base + read64(relocation, elf.relocation.address);
  }
  return undefined;
};

/** Returns the values of the dynamic section, by their tags. */
const tagsOf = (segments: readonly Segment[]): ReadonlyMap<number, bigint> => {
  const tags = new Map<number, bigint>();
  for (const { type, start } of segments) {
    if (type !== elf.segmentTypes.dynamic) continue;
    for (let at = start; read64(at) !== 0n; at += BigInt(elf.tag.size)) {
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
