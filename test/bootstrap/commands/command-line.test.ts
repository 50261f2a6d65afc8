import { expect } from "chai";
import { composeCommandLine } from "../../../src/bootstrap/commands/command-line.ts";
import { createProgram, run } from "../../../src/cli/program.ts";
import type { EventStore } from "../../../src/eventstore/event-store.ts";
import { readSettings, type Settings } from "../../../src/settings/read-settings.ts";
import { noTelemetry } from "../../../src/telemetry/telemetry.ts";
import { duringSuite } from "../../support/during.ts";
import { machineAt } from "../../support/in-process-service.ts";
import { temporaryFolder } from "../../support/service.ts";

describe("the streams that a command reads", () => {
  const folder = duringSuite(temporaryFolder);
  let settings: Settings;
  let website: { id: string; apiKey: string; secretId: string };
  const now = Date.parse("2026-11-05T10:00:00.000Z");

  /**
   * Runs a command line. Returns the streams, and the stream prefixes with a `*`, that it read or
   * appended to.
   */
  const touchedBy = async (...args: string[]): Promise<{ touched: string[]; output: string }> => {
    const touched = new Set<string>();
    const eventStore = (store: EventStore): EventStore => ({
      ...store,
      append: (stream, ...rest) => {
        touched.add(stream);
        return store.append(stream, ...rest);
      },
      readStream: (stream, options) => {
        touched.add(stream);
        return store.readStream(stream, options);
      },
      subscribe: (options) => {
        for (const prefix of options?.prefixes ?? [""]) touched.add(`${prefix}*`);
        return store.subscribe(options);
      },
    });
    const telemetry = { ...noTelemetry, eventStore };
    let output = "";
    const writeOut = (text: string): void => {
      output += text;
    };
    const program = createProgram(
      async (work, access = { writes: false }) => {
        const services = await composeCommandLine(settings, access, {
          machine: machineAt({ now }),
          telemetry,
        });
        try {
          return await work(services);
        } finally {
          await services.close();
        }
      },
      { writeOut, writeErr: writeOut },
    );
    expect(await run(program, ["node", "voxledger", ...args, "--json"]), output).to.equal(0);
    return { touched: [...touched].sort(), output };
  };
  /** Beside the stream that states the log's format. */
  const touches = async (streams: readonly string[], ...args: string[]): Promise<void> => {
    const withFormat = ["log", ...streams];
    expect((await touchedBy(...args)).touched, args.join(" ")).to.deep.equal(withFormat.sort());
  };

  /** The stream of the website, and what decrypts its name and origins. */
  const websiteStreams = (id = website.id): string[] => ["master-key", `data-key-${id}`, `website-${id}`];

  before(async () => {
    settings = readSettings({ DATA_DIR: folder.path });
    website = JSON.parse((await touchedBy("website", "create", "Shop")).output);
  });

  it("are only the key's stream for a change of the key, and its website's before one that revives it", async () => {
    const { apiKey, secretId } = website;
    const key = [`key-${apiKey}`];
    await touches(key, "key", "suspend", apiKey, "--reason", "a test");
    await touches([...key, ...websiteStreams()], "key", "reinstate", apiKey);
    await touches(key, "key", "plan", apiKey, "commercial");
    await touches([...key, ...websiteStreams()], "secret", "create", apiKey);
    await touches(key, "secret", "revoke", apiKey, secretId);
  });

  it("are only the website's streams for a change of the website", async () => {
    const stream = websiteStreams();
    await touches(stream, "website", "origins", website.id, "https://shop.example");
    await touches(stream, "website", "verification", website.id, "https://b.example");
    await touches(stream, "website", "show", website.id);
  });

  it("are the key's stream, its account of the month and the registry of journals for showing its usage", async () => {
    const { apiKey } = website;
    const streams = ["journals", `key-${apiKey}`, `usage-${apiKey}-2026-11`];
    await touches(streams, "key", "show", apiKey);
    await touches(streams, "usage", apiKey);
  });

  it("are the streams of one kind for a list", async () => {
    await touches(["key-*"], "key", "list");
    await touches(websiteStreams("*"), "website", "list");
    await touches(["catalog"], "voice", "list");
    await touches(["catalog"], "system-voice", "list");
    await touches([`credentials-${website.id}`, ...websiteStreams()], ...["credentials", "list", website.id]);
    await touches([`lexicons-${website.id}`, ...websiteStreams()], "lexicons", "list", website.id);
  });
});
