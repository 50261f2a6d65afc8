import { brotliCompressSync } from "node:zlib";
import { expect } from "chai";
import { pageScripts } from "../../projections/page-scripts.ts";
import { readView } from "../../projections/runner/read-view.ts";
import { createExecuteCommand } from "../../src/application/execute-command.ts";
import { createFindPinnedScripts, createPinScripts } from "../../src/application/page-scripts.ts";
import { Unavailable } from "../../src/domain/errors.ts";
import { pageScriptsHash, pageScriptsStream } from "../../src/domain/page-scripts.ts";
import { createCommandHandler } from "../../src/eventstore/command-handler.ts";
import { EventStoreUnavailable } from "../../src/eventstore/event-store.ts";
import { uuidv7 } from "../../src/eventstore/uuid.ts";
import { collect } from "../support/collect.ts";
import { duringTest } from "../support/during.ts";
import { rejection } from "../support/rejection.ts";
import { openTemporaryStore } from "../support/temporary-store.ts";

const scripts = { "/player.js": 'import "./client.js";', "/client.js": "export {};" };
const hash = pageScriptsHash(JSON.stringify(scripts));
const context = { actor: "cli" };

describe("the pinned scripts of pages", () => {
  const opened = duringTest(openTemporaryStore);
  let reads: string[];
  beforeEach(() => {
    reads = [];
  });

  const pin = () => {
    const { store } = opened;
    const handler = createCommandHandler({ store, clock: Date.now });
    const execute = createExecuteCommand({ handler, runner: { waitForPosition: async () => {} } });
    return createPinScripts({ execute, clock: Date.now })(scripts, context);
  };
  const open = async () => {
    const view = await readView(opened.store, pageScripts, "all");
    const readStream: typeof opened.store.readStream = (stream, options) => {
      reads.push(stream);
      return opened.store.readStream(stream, options);
    };
    return createFindPinnedScripts({ store: { readStream }, view });
  };
  const append = (scriptsText: string) => {
    const data = { scripts: scriptsText, at: new Date().toISOString() };
    const event = { id: uuidv7(Date.now()), type: "PageScriptsPinned", data, metadata: {} };
    return opened.store.append(pageScriptsStream(hash), [event], "any");
  };

  it("are found under the hash of their texts, and read once", async () => {
    expect(await pin()).to.equal(hash);
    const find = await open();
    expect(await find(hash)).to.deep.equal(scripts);
    expect(await find(hash)).to.deep.equal(scripts);
    expect(reads).to.deep.equal([pageScriptsStream(hash)]);
  });

  it("are recorded once, however often an operator asks for their addresses", async () => {
    await pin();
    await pin();
    expect(await collect(opened.store.readStream(pageScriptsStream(hash)))).to.have.length(1);
  });

  it("cost no read of the event store if their hash is unknown", async () => {
    await pin();
    const find = await open();
    for (const unknown of ["0".repeat(64), "", "../journals", `${hash} `]) {
      expect(await find(unknown)).to.equal(undefined);
    }
    expect(reads).to.deep.equal([]);
  });

  it("are not served if their texts do not have the hash, or cannot be decompressed", async () => {
    await append(brotliCompressSync('{"/player.js":"altered"}').toString("base64"));
    await append("no brotli");
    expect(await (await open())(hash)).to.equal(undefined);
  });

  it("are unavailable while the event store is, and found afterwards", async () => {
    await pin();
    const view = await readView(opened.store, pageScripts, "all");
    let isLost = true;
    const readStream: typeof opened.store.readStream = (stream) => {
      if (isLost) throw new EventStoreUnavailable("lost");
      return opened.store.readStream(stream);
    };
    const find = createFindPinnedScripts({ store: { readStream }, view });
    expect(await rejection(find(hash))).to.be.instanceOf(Unavailable);
    isLost = false;
    expect(await find(hash)).to.deep.equal(scripts);
  });
});
