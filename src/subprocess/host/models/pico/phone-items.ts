/** An item that Pico reads from the buffer before its signal generation: a phone, or a `<mark>`. */
export type PhoneItem =
  | { readonly kind: "phone"; readonly phone: number /** A frame has 64 samples. */; readonly frames: number }
  | { readonly kind: "mark"; readonly index: number };

/** Item types of picodata.h. */
const phoneType = 0x68; // PICODATA_ITEM_PHONE
const commandType = 0x63; // PICODATA_ITEM_CMD
const markCommand = 0x6d; // PICODATA_ITEMINFO1_CMD_MARKER
const headBytes = 4;
/**
 * The number of states of a phone, and the bytes of each state: frames, pitch and spectrum
 * (picopam.c).
 */
const phoneStates = 5;
const stateBytes = 6;

/** The size `PICODATA_BUFSIZE_PAM` of Pico. */
const bufferBytes = 1040;
/**
 * A `char_buffer_t` (picodata.c) begins with the address of the bytes. The positions at which the
 * next byte is written and read follow.
 */
const rearOffset = 4;
const sizeOffset = 10;

/**
 * Returns the address of the `char_buffer_t` between phonetic-acoustic mapping and its smoothing.
 * It is recognised because a phone and a mark have passed it. Items are read there, because the API
 * reports no events.
 * @throws {Error} if this is another version of Pico
 */
export const findPhoneBuffer = (memory: Uint8Array<ArrayBuffer>): number => {
  const view = new DataView(memory.buffer);
  for (let at = 0; at + 16 <= memory.length; at += 4) {
    if (view.getUint16(at + sizeOffset, true) !== bufferBytes) continue;
    const bytes = view.getUint32(at, true);
    const rear = view.getUint16(at + rearOffset, true);
    if (rear >= bufferBytes || bytes + bufferBytes > memory.length) continue;
    const kinds = new Set(readPhoneItems(memory, at, 0).items.map(({ kind }) => kind));
    if (kinds.has("phone") && kinds.has("mark")) return at;
  }
  throw new Error("This version of Pico is not known.");
};

/** Returns the items that were written since the position `from` of the ring buffer. */
export const readPhoneItems = (memory: Uint8Array<ArrayBuffer>, buffer: number, from: number) => {
  const view = new DataView(memory.buffer);
  const bytes = view.getUint32(buffer, true);
  const until = view.getUint16(buffer + rearOffset, true);
  const items: PhoneItem[] = [];
  const byte = (at: number): number => view.getUint8(bytes + (at % bufferBytes));
  const end = until < from ? until + bufferBytes : until;
  for (let at = from; at + headBytes <= end; ) {
    const length = byte(at + 3);
    const content = at + headBytes;
    if (byte(at) === phoneType) {
      let frames = 0;
      for (let state = 0; state < phoneStates; state++) {
        const place = content + state * stateBytes;
        frames += byte(place) + 256 * byte(place + 1);
      }
      items.push({ kind: "phone", phone: byte(at + 1), frames });
    } else if (byte(at) === commandType && byte(at + 1) === markCommand) {
      const name = Array.from({ length }, (_, index) => String.fromCharCode(byte(content + index)));
      items.push({ kind: "mark", index: Number.parseInt(name.join(""), 36) });
    }
    at = content + length;
  }
  return { items, until };
};
