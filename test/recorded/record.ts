/**
 * Records a small installation of this version on each store: `scripts/node test/recorded/record.ts
 * <new folder>`. It serves four days of October and November 2026, on a clock of its own. Later
 * versions must start on what it writes, report the same and verify it:
 * recorded-installations.test.ts. Needs espeak-ng, flite and ffmpeg.
 *
 * `installation.tar.br` has DATA_DIR and the event store as a killed process leaves them (the last
 * journal is open, the last events are not sealed), exports, and the checkpoints that an auditor
 * kept. `recorded.json` has credentials, requests with the digests of their audio, and responses of
 * the admin API.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { brotliCompressSync } from "node:zlib";
import { composeAuditProof } from "../../src/bootstrap/commands/audit-proof.ts";
import { openEventStore } from "../../src/bootstrap/event-log/open-event-store.ts";
import { readSealKeys } from "../../src/bootstrap/event-log/seals.ts";
import { createLogger } from "../../src/bootstrap/observability.ts";
import { composeService, type Service } from "../../src/bootstrap/service.ts";
import { eventTypes } from "../../src/domain/event-shapes.ts";
import { journalPrefix } from "../../src/domain/ledger/journal/journal.ts";
import { readLog } from "../../src/eventstore/follow-events.ts";
import { validatedEventStore } from "../../src/eventstore/validated-event-store.ts";
import { createCloseUsageAccounts } from "../../src/ledger/accounts/close-usage-accounts.ts";
import { verifyLog } from "../../src/ledger/proof/audit-verify.ts";
import { readSettings } from "../../src/settings/read-settings.ts";
import { written } from "../golden/golden.ts";
import { admin, authorize, type Credentials } from "../support/client.ts";
import { collect } from "../support/collect.ts";
import { startEventStoreDBNode } from "../support/eventstoredb-node/node.ts";
import { ask, machineAt } from "../support/in-process-service.ts";
import { adminToken, masterKey } from "../support/instance.ts";
import { openStream } from "../support/streams.ts";
import { shareHelper } from "../support/tool-host.ts";
import { serveWebhookReceiver } from "../support/webhook-receiver.ts";
import { goodCredentials, serveProviders } from "../support/wire/providers.ts";
import { makeOperatorChanges } from "./operator-changes.ts";
import { archiveName, type Recorded, type RecordedAudio, type StoreKind, storeKinds } from "./recorded.ts";

interface OpenStore {
  readonly env: Record<string, string>;
  /** Delays appends to journals until the returned function is called. Resolves when one waits. */
  readonly holdAppends: () => { readonly reached: () => Promise<void>; readonly release: () => void };
  /** Copies the store's file as it is now. */
  readonly copyTo: (folder: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

const minuteMs = 60_000;
const time = { now: 0 };
const clock = () => time.now;
const machine = machineAt(time);
/** Types of events that need what a recording does not have. */
const unrecorded: readonly string[] = [
  ...["ClockAccepted", "ClockCorrected"], // a wrong clock
  ...["NamingKeyReencrypted", "CredentialsReencrypted", "WebhookSecretReencrypted"], // another master key
  ...["VoicesChosen", "VoicesReported", "SampleSpoken"], // natural voices, and the gallery
  // Killed processes, and requests that fail or compete.
  ...["IdempotencyKeyReleased", "ReservationSettled", "ReservationsRecalled"],
  ...["JournalPosted", "UsageCarriedOver", "DeliveryFailed"],
  "OriginVerified", // a page at the origin
];
/** STREAM_PREFIX of the installation on EventStoreDB. */
const prefix = "shared";

const openSqlite = async (folder: string): Promise<OpenStore> => {
  const path = join(folder, "events.db");
  return {
    env: { EVENT_STORE: `sqlite:${path}` },
    holdAppends: () => {
      const database = new DatabaseSync(path);
      database.exec("BEGIN IMMEDIATE");
      return {
        // No call tells that an append waits for the lock; the check of the audit notices if none
        // did.
        reached: async () => await delay(1_000),
        release: () => database.close(),
      };
    },
    copyTo: async (target) => {
      using database = new DatabaseSync(path, { readOnly: true });
      await backup(database, join(target, "events.db"));
    },
    close: async () => {},
  };
};

const openNode = async (folder: string): Promise<OpenStore> => {
  const dataFile = join(folder, "eventstoredb.ndjson");
  const node = await startEventStoreDBNode({ clock, dataFile });
  return {
    env: { EVENT_STORE: node.url, MASTER_KEY: masterKey, STREAM_PREFIX: prefix },
    holdAppends: () => {
      node.faults.freezeAppends(`${prefix}.${journalPrefix}`);
      return {
        reached: async () => {
          while (node.faults.frozen === 0) await new Promise(setImmediate);
        },
        release: () => node.faults.thawAppends(),
      };
    },
    copyTo: (target) => copyFile(dataFile, join(target, "eventstoredb.ndjson")),
    close: node.close,
  };
};

/** One installation while it is recorded. */
class Recording {
  readonly #store: OpenStore;
  readonly #env: Record<string, string>;
  readonly #audio: RecordedAudio[] = [];
  #service: Service | undefined;

  constructor(store: OpenStore, env: Record<string, string>) {
    this.#store = store;
    this.#env = env;
  }

  get audio(): readonly RecordedAudio[] {
    return this.#audio;
  }
  get url(): string {
    return this.#service?.url ?? "";
  }
  get settings() {
    return readSettings(this.#env);
  }

  /** Starts the service at this time. */
  async start(at: string): Promise<void> {
    time.now = Date.parse(at);
    const options = { machine, superviseHelper: shareHelper };
    this.#service = await composeService(this.settings, createLogger("warn"), options);
  }

  async stop(): Promise<void> {
    await this.#service?.close();
    this.#service = undefined;
  }

  /** A call of the admin API that must succeed. */
  async admin(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
    time.now += 1_000;
    const response = await admin(this.url, method, path, body);
    if (response.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(response)}`);
    return response.body;
  }

  async register(name: string, plan: string | object): Promise<Credentials> {
    return (await this.admin("POST", "/websites", { name, plan })) as unknown as Credentials;
  }

  /** GET /v2/text/synthesize, which must have this status. */
  async speak(
    website: Credentials,
    query: Record<string, string>,
    { headers = {}, status = 200 }: { headers?: Record<string, string>; status?: number } = {},
  ): Promise<void> {
    time.now += 7_000;
    const path = `/v2/text/synthesize?${new URLSearchParams(query)}`;
    const response = await fetch(this.url + path, { headers: { ...authorize(website), ...headers } });
    const bytes = Buffer.from(await response.arrayBuffer());
    if (response.status !== status) throw new Error(`${path}: ${response.status} ${bytes}`);
    if (status !== 200) return;
    this.#audio.push({
      apiKey: website.apiKey,
      path,
      sha256: createHash("sha256").update(bytes).digest("hex"),
      location: response.headers.get("Content-Location") ?? undefined,
      link: response.headers.get("Link") ?? undefined,
    });
  }

  /** A stream of a premium voice. */
  async stream(website: Credentials, text: string): Promise<void> {
    time.now += 7_000;
    const { status, readAudio } = await openStream(this.url, website, { text, voice: "alloy" });
    if (status !== 200) throw new Error(`a stream was answered with ${status}`);
    await readAudio();
  }

  /** A request of a client that leaves while its serving is recorded: its charge is voided. */
  async speakAndLeave(website: Credentials, text: string): Promise<void> {
    time.now += 7_000;
    const held = this.#store.holdAppends();
    const { hostname, port } = new URL(this.url);
    const socket = connect(Number(port), hostname);
    const query = new URLSearchParams({ voice: "UK English Female", text });
    const headers = Object.entries({ Host: hostname, ...authorize(website) });
    const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
    socket.write(`GET /v2/text/synthesize?${query} HTTP/1.1\r\n${lines}\r\n`);
    await held.reached();
    socket.resetAndDestroy();
    await ask(`${this.url}/health/live`); // completed after the reset was noticed
    held.release();
    for (let entries = ""; !entries.includes('"ServingVoided"'); ) {
      await delay(100);
      entries = await this.get(`/admin/audit?apiKey=${website.apiKey}`);
      if (!entries.includes('"SynthesisServed"')) throw new Error("the client left before it was charged");
    }
  }

  async get(path: string): Promise<string> {
    return (await ask(this.url + path, { headers: { Authorization: `Bearer ${adminToken}` } })).text;
  }

  /** Seals the log. The export, and the seal's checkpoint. */
  async export(): Promise<{ readonly text: string; readonly seal: string }> {
    time.now += minuteMs;
    const proof = composeAuditProof(() => this.settings, machine);
    const text = (await collect(proof.exportAudit({ actor: "cli" }))).join("");
    const { events } = await openEventStore(this.settings, { clock, readOnly: true });
    const { sealed } = await verifyLog(events, { keys: await readSealKeys(this.settings.dataDir) });
    await events.close();
    return { text, seal: sealed.note };
  }

  /** @throws unless the log has every type of events that this version writes */
  async requireAllTypes(): Promise<void> {
    const { events } = await openEventStore(this.settings, { clock, readOnly: true });
    const recorded = new Set<unknown>();
    for await (const { type } of readLog(events)) recorded.add(type);
    await events.close();
    const missing = eventTypes.filter((type) => !recorded.has(type) && !unrecorded.includes(type));
    if (missing.length > 0) throw new Error(`nothing records ${missing.join(", ")}`);
  }

  /** Closes the month as a running service does some minutes after its end. */
  async closeMonth(apiKeys: readonly string[]): Promise<void> {
    const { events } = await openEventStore(this.settings, { clock, readOnly: false });
    const onError = (what: string, error: unknown) => {
      throw new Error(what, { cause: error });
    };
    await createCloseUsageAccounts({
      store: validatedEventStore(events),
      apiKeys: () => apiKeys,
      clock,
      onError,
    })();
    await events.close();
  }
}

const planOf = (monthlyCharacters: number) => ({
  tier: "enterprise",
  requestsPerMinute: 1_000,
  monthlyCharacters,
});

type Websites = Recorded["websites"];

const english = { voice: "UK English Female" };
const withKey = (key: string) => ({ headers: { "Idempotency-Key": key } });

/**
 * Two websites and two keys of a third one, a lexicon, credentials of providers, and servings over
 * several interfaces.
 */
const firstDay = async (recording: Recording, receiverUrl: string): Promise<Websites> => {
  await recording.start("2026-10-30T09:00:00.000Z");
  await recording.admin("POST", "/webhooks", { url: receiverUrl });
  const shop = await recording.register("shop.example", "commercial");
  const library = await recording.register("library.example", planOf(50));
  const forum = await recording.register("forum.example", "free");
  const second = { ...shop, ...(await recording.admin("POST", `/websites/${shop.id}/keys`, {})) };
  const ofShop = `/websites/${shop.id}`;
  await recording.admin("PUT", `${ofShop}/origins`, { origins: ["https://shop.example"] });
  await recording.admin("PUT", `${ofShop}/config`, { voice: { name: "UK English Female", rate: 1.1 } });
  const lexicon = { lang: "en", rules: [{ grapheme: "W3C", alias: "World Wide Web Consortium" }] };
  await recording.admin("PUT", `${ofShop}/lexicons/abbreviations`, lexicon);
  for (const engine of ["oai", "msv"] as const)
    await recording.admin("PUT", `${ofShop}/credentials/${engine}`, goodCredentials[engine]);

  await recording.speak(shop, { ...english, text: "The W3C has a shop." });
  await recording.speak(shop, { ...english, text: "The W3C has a shop." });
  await recording.speak(forum, { ...english, text: "The W3C has a forum." }, withKey("one"));
  await recording.speak(forum, { ...english, text: "The W3C has a forum." }, withKey("one"));
  await recording.speak(second, { voice: "US English Female", text: "Another engine." });
  await recording.speak(second, { voice: "Deutsch Female", text: "Guten Tag, Welt." });
  await recording.speak(shop, { voice: "alloy", text: "Words of a provider." });
  await recording.speak(shop, { voice: "en-US-JennyNeural", format: "ogg", text: "Words of another one." });
  await recording.stream(shop, "A stream of a provider. It has two sentences.");
  await recording.speak(library, { ...english, text: "Books of the library. Thirty." });
  await recording.stop();
  return { shop, library, forum, second };
};

/** A suspension by quota, a voided serving and a range, before a month's end. */
const secondDay = async (recording: Recording, { shop, library, forum }: Websites): Promise<void> => {
  await recording.start("2026-10-31T23:40:00.000Z");
  await recording.speak(library, { ...english, text: "More books of it." });
  await recording.speak(library, { ...english, text: "Too many books." }, { status: 403 });
  await recording.speak(shop, { ...english, text: "Nobody hears this." });
  await recording.speakAndLeave(forum, "Nobody hears this.");
  const range = { headers: { Range: "bytes=0-9" }, status: 206 };
  await recording.speak(forum, { ...english, text: "A range." }, range);
  await recording.speak(shop, { voice: "alloy", text: "Words of a provider." });
  await recording.stop();
};

/** A new plan, a revoked secret, a suspension, and other changes by operators. */
const thirdDay = async (
  recording: Recording,
  { shop, library, forum, second }: Websites,
  receiverUrl: string,
): Promise<void> => {
  await recording.start("2026-11-01T08:00:00.000Z");
  await recording.admin("PUT", `/keys/${library.apiKey}/plan`, planOf(2_000));
  await recording.speak(library, { ...english, text: "New books in November." });
  const { secretId } = await recording.admin("POST", `/keys/${forum.apiKey}/secrets`);
  await recording.admin("DELETE", `/keys/${forum.apiKey}/secrets/${secretId}`);
  await recording.admin("POST", `/keys/${second.apiKey}/suspend`, { reason: "invoice overdue" });
  await recording.speak(second, { ...english, text: "Refused." }, { status: 403 });
  await recording.speak(shop, { ...english, text: "The shop in November.", rate: "1.5" });
  await recording.speak(forum, { ...english, text: "Deleted." });
  const [audioHash = ""] = /[0-9a-f]{64}/.exec(recording.audio.at(-1)?.location ?? "") ?? [];
  const call = recording.admin.bind(recording);
  await makeOperatorChanges(call, { shop, audioHash, receiverUrl });
  await recording.stop();
};

/** October is closed and exported. Later servings are neither sealed nor posted. */
const lastDay = async (recording: Recording, { shop, library, forum, second }: Websites) => {
  await recording.start("2026-11-02T12:00:00.000Z");
  const apiKeys = [shop, library, forum, second].map(({ apiKey }) => apiKey);
  await recording.closeMonth(apiKeys);
  await recording.speak(forum, { ...english, text: "The month is closed." });
  const exported = await recording.export();
  const keyMonth = { apiKey: library.apiKey, month: "2026-10" };
  const proof = await recording.get(`/admin/keys/${keyMonth.apiKey}/proof?month=${keyMonth.month}`);
  await recording.speak(shop, { ...english, text: "Not sealed." });
  await recording.speak(library, { ...english, text: "Not posted." }, withKey("two"));
  time.now += 5 * minuteMs; // the reports are final
  const months = ["2026-10", "2026-11"];
  const usage = months.flatMap((month) => apiKeys.map((apiKey) => `/keys/${apiKey}/usage?month=${month}`));
  const reports: Recorded["reports"] = {};
  for (const path of [...usage, "/keys?limit=100", "/usage", "/websites", `/websites/${shop.id}/lexicons`])
    reports[path] = (await admin(recording.url, "GET", path)).body;
  return { exported, keyMonth, proof, reports };
};

const record = async (kind: StoreKind, target: string): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), "voxledger-record-"));
  const [dataDir, live] = [join(folder, "installation"), join(folder, "live")];
  await mkdir(live);
  time.now = Date.parse("2026-10-30T09:00:00.000Z");
  const store = await (kind === "sqlite" ? openSqlite : openNode)(live);
  const [providers, receiver] = await Promise.all([serveProviders(), serveWebhookReceiver()]);
  const given = {
    ...{ PORT: "0", DATA_DIR: dataDir, ADMIN_TOKEN: adminToken, ALLOW_LOOPBACK_UPSTREAMS: "true" },
    VOICES: "classic", // natural voices need files that are not in the archive
  };
  const recording = new Recording(store, { ...given, ...providers.env, ...store.env });

  const websites = await firstDay(recording, receiver.url);
  const seals = [(await recording.export()).seal];
  await secondDay(recording, websites);
  await thirdDay(recording, websites, receiver.url);
  seals.push((await recording.export()).seal);
  const { exported, keyMonth, proof, reports } = await lastDay(recording, websites);
  await recording.requireAllTypes();
  seals.push(exported.seal);

  const recorded: Recorded = {
    settings: {
      // Part of the names of its audio. Nothing is asked there.
      OPENAI_URL: providers.oai.url,
      ...(kind === "eventstoredb" && { MASTER_KEY: masterKey, STREAM_PREFIX: prefix }),
    },
    at: new Date(time.now).toISOString(),
    websites,
    keyMonth,
    audio: recording.audio,
    reports,
  };
  await writeFile(join(folder, "export.ndjson"), exported.text);
  await writeFile(join(folder, "key-month.ndjson"), proof);
  await mkdir(join(folder, "seals"));
  for (const [index, seal] of seals.entries()) await writeFile(join(folder, "seals", `${index}.txt`), seal);
  await store.copyTo(dataDir);
  await recording.stop();
  await Promise.all([store.close(), providers.close(), receiver.close()]);

  const archive = execFileSync("tar", ["-c", "--sort=name", "-C", folder, "--exclude=./live", "."], {
    maxBuffer: 2 ** 26,
  });
  await mkdir(target, { recursive: true });
  await writeFile(join(target, archiveName), brotliCompressSync(archive));
  const defined: Recorded = JSON.parse(JSON.stringify(recorded));
  await writeFile(join(target, "recorded.json"), `${written(defined, 500)}\n`);
  await rm(folder, { recursive: true });
};

const [, , target] = process.argv;
if (target === undefined) throw new Error("name a new folder");
for (const kind of storeKinds) await record(kind, join(target, kind));
process.exit(); // the shared helper process ends with this one
