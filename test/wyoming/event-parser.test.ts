import { expect } from "chai";
import fc from "fast-check";
import { Invalid } from "../../src/domain/errors.ts";
import { EventParser } from "../../src/wyoming/event-parser.ts";
import { encodeEvent } from "../../src/wyoming/events.ts";

const limits = { jsonBytes: 2_000, payloadBytes: 2_000 };

describe("the parser of Wyoming events", () => {
  it("reads the same events in whatever chunks they arrive", () => {
    // zod leaves out members named __proto__, which no event has.
    const name = fc.string().filter((any) => any !== "__proto__");
    const event = fc.record({
      type: fc.stringMatching(/^[a-z-]{1,20}$/),
      data: fc.dictionary(name, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 }),
      payload: fc.uint8Array({ maxLength: 100 }),
    });
    fc.assert(
      fc.property(fc.array(event), fc.infiniteStream(fc.integer({ min: 1, max: 50 })), (events, lengths) => {
        const bytes = Buffer.concat(
          events.map(({ type, data, payload }) => encodeEvent(type, data, Buffer.from(payload))),
        );
        const parser = new EventParser({ jsonBytes: 100_000, payloadBytes: 100 });
        const read: unknown[] = [];
        for (let at = 0; at < bytes.length; ) {
          const length = lengths.next().value as number;
          read.push(...parser.push(bytes.subarray(at, at + length)));
          at += length;
        }
        const sent = events.map(({ type, data }) => ({ type, data: JSON.parse(JSON.stringify(data)) }));
        expect(read).to.deep.equal(sent);
      }),
    );
  });

  it("throws only Invalid, and holds no more than its limits, for any bytes", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.uint8Array(), fc.json().map(Buffer.from))), (chunks) => {
        const parser = new EventParser(limits);
        try {
          for (const chunk of chunks) [...parser.push(Buffer.from(chunk))];
        } catch (error) {
          expect(error).to.be.instanceOf(Invalid);
        }
      }),
    );
  });

  it("refuses a header as soon as it is too long", () => {
    const parser = new EventParser(limits);
    const part = Buffer.alloc(1_000, "x");
    for (let i = 0; i < 2; i++) expect([...parser.push(part)]).to.deep.equal([]);
    expect(() => [...parser.push(Buffer.from("x"))]).to.throw(Invalid, "longer than 2000 bytes");
  });
});
