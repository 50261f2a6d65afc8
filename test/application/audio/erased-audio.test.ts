import { expect } from "chai";
import { createErasedAudio } from "../../../src/application/audio/erased-audio.ts";
import type { Rendition } from "../../../src/audio/pipeline/pipeline.ts";
import { Unavailable } from "../../../src/domain/errors.ts";
import { createManualTime, until } from "../../support/manual-time.ts";

const made = (hash: string, websiteId?: string): Rendition => ({ hash, recipe: { websiteId } }) as Rendition;

describe("the private audio of an erased website", () => {
  const start = ({ failures = 0, shown = [] as string[] } = {}) => {
    const time = createManualTime();
    const deleted: string[] = [];
    const errors: string[] = [];
    let left = failures;
    const audio = createErasedAudio({
      deleteAudio: async (hash) => {
        if (left-- > 0) throw new Unavailable("The store is down.", 1);
        deleted.push(hash);
        return { hash, objects: [], purged: false };
      },
      isErased: (id) => shown.includes(id),
      time,
      onError: (what) => errors.push(what),
    });
    return { ...audio, time, deleted, errors };
  };

  it("is deleted if it was made shortly before the erasure, which has not deleted it itself", async () => {
    const { noteStored, noteErased, noteDeleted, time, deleted, close } = start();
    for (const one of [made("a", "w"), made("b", "v"), made("c"), made("d", "w")]) noteStored(one);
    noteErased("w");
    noteErased("w");
    noteDeleted("a");
    expect(time.waiting()).to.equal(1);
    time.advance(10_000);
    await close(1_000);
    expect(deleted).to.deep.equal(["d"]);
  });

  it("is deleted at once if the service stops", async () => {
    const { noteStored, noteErased, deleted, errors, close } = start();
    noteStored(made("a", "w"));
    noteErased("w");
    await close(1_000);
    expect({ deleted, errors }).to.deep.equal({ deleted: ["a"], errors: [] });
  });

  it("is deleted if it is made after the erasure, before and after the views show that", () => {
    const { noteStored, noteErased, deleted } = start({ shown: ["v"] });
    noteErased("w");
    for (const one of [made("a", "w"), made("b", "v"), made("c", "u")]) noteStored(one);
    expect(deleted).to.deep.equal(["a", "b"]);
  });

  it("is known for a quarter of an hour, and forgotten at most as long after that", async () => {
    const { noteStored, noteErased, time, deleted, close } = start();
    const minutes = 60_000;
    noteStored(made("a", "w"));
    time.advance(10 * minutes);
    noteStored(made("b", "w"));
    time.advance(6 * minutes);
    noteStored(made("c", "w"));
    time.advance(16 * minutes);
    noteStored(made("d", "v"));
    noteErased("w");
    await close(1_000);
    expect(deleted).to.deep.equal(["c"]);
  });

  it("is deleted as soon as the store can be written, and reported if the service stops before", async () => {
    const { noteStored, noteErased, time, deleted, errors, close } = start({ failures: 2 });
    noteErased("w");
    noteStored(made("a", "w"));
    for (let attempt = 0; attempt < 2; attempt++) {
      await until(() => time.waiting() === (attempt === 0 ? 2 : 1));
      time.advance(60_000);
    }
    await until(() => deleted.length === 1);
    await close(1_000);
    expect(errors).to.deep.equal([]);

    const down = start({ failures: Number.POSITIVE_INFINITY, shown: ["w"] });
    down.noteStored(made("a", "w"));
    await until(() => down.time.waiting() === 1);
    await down.close(1_000);
    expect(down.errors).to.deep.equal(["the audio a of an erased website could not be deleted"]);
  });

  it("is reported when the service stops while its deletion takes too long", async () => {
    const time = createManualTime();
    const errors: string[] = [];
    const audio = createErasedAudio({
      deleteAudio: () => new Promise(() => {}),
      isErased: () => true,
      time,
      onError: (what) => errors.push(what),
    });
    audio.noteStored(made("a", "w"));
    const closed = audio.close(1_000);
    time.advance(1_000);
    await closed;
    expect(errors).to.deep.equal(["audio of an erased website could not be deleted in time"]);
  });
});
