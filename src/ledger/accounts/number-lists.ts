/** A list belongs to one `NumberLists`. Its members are 0 while it is empty. */
export interface NumberList {
  /** Blocks, counted from 1. */
  firstBlock: number;
  lastBlock: number;
  /** Used bytes of the last block. */
  usedBytes: number;
}

/**
 * The data of a block is followed by the number of the list's next block or, in a free block, by
 * that of the next free one.
 */
const dataBytes = 28;
const blockBytes = 32;
const blocksPerSegment = 32_768;

/**
 * Many lists of natural numbers, most of which are small. A number takes about a byte and a half,
 * where an array takes 8 bytes and room to grow.
 */
export class NumberLists {
  readonly #segments: DataView[] = [];
  #blocks = 0;
  #firstFree = 0;

  append(list: NumberList, number: number): void {
    let rest = number;
    while (rest >= 128) {
      this.#appendByte(list, 128 + (rest % 128));
      rest = Math.floor(rest / 128);
    }
    this.#appendByte(list, rest);
  }

  *read({ firstBlock, lastBlock, usedBytes }: NumberList): Generator<number, void> {
    let number = 0;
    let factor = 1;
    for (let block = firstBlock; block !== 0; block = block === lastBlock ? 0 : this.#next(block)) {
      const bytes = block === lastBlock ? usedBytes : dataBytes;
      for (let index = 0; index < bytes; index++) {
        const byte = this.#segmentOf(block).getUint8(offsetOf(block) + index);
        number += (byte % 128) * factor;
        factor *= 128;
        if (byte >= 128) continue;
        yield number;
        number = 0;
        factor = 1;
      }
    }
  }

  /** Empties the list. Its memory is used for other lists. */
  clear(list: NumberList): void {
    if (list.firstBlock === 0) return;
    this.#setNext(list.lastBlock, this.#firstFree);
    this.#firstFree = list.firstBlock;
    list.firstBlock = 0;
    list.lastBlock = 0;
    list.usedBytes = 0;
  }

  #appendByte(list: NumberList, byte: number): void {
    if (list.lastBlock === 0 || list.usedBytes === dataBytes) {
      const block = this.#takeBlock();
      if (list.lastBlock === 0) list.firstBlock = block;
      else this.#setNext(list.lastBlock, block);
      list.lastBlock = block;
      list.usedBytes = 0;
    }
    this.#segmentOf(list.lastBlock).setUint8(offsetOf(list.lastBlock) + list.usedBytes, byte);
    list.usedBytes += 1;
  }

  #takeBlock(): number {
    const free = this.#firstFree;
    if (free !== 0) {
      this.#firstFree = this.#next(free);
      return free;
    }
    this.#blocks += 1;
    if (this.#blocks > this.#segments.length * blocksPerSegment)
      this.#segments.push(new DataView(new ArrayBuffer(blocksPerSegment * blockBytes)));
    return this.#blocks;
  }

  #next(block: number): number {
    return this.#segmentOf(block).getUint32(offsetOf(block) + dataBytes);
  }

  #setNext(block: number, next: number): void {
    this.#segmentOf(block).setUint32(offsetOf(block) + dataBytes, next);
  }

  #segmentOf(block: number): DataView {
    return this.#segments[Math.floor((block - 1) / blocksPerSegment)] as DataView;
  }
}

const offsetOf = (block: number): number => ((block - 1) % blocksPerSegment) * blockBytes;
