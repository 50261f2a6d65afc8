import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { credentials as credentialsProjection } from "../../projections/credentials.ts";
import { createProjectionRunner } from "../../projections/runner/runner.ts";
import type { View } from "../../projections/runner/view.ts";
import { websites as websitesProjection } from "../../projections/websites.ts";
import {
  type CredentialsService,
  createCredentialsService,
} from "../../src/application/accounts/credentials.ts";
import {
  type CredentialsCipher,
  createCredentialsCipher,
} from "../../src/application/accounts/credentials-cipher.ts";
import type { Providers } from "../../src/application/accounts/list-provider-voices.ts";
import {
  createProviderClients,
  type FindProviderClient,
} from "../../src/application/accounts/provider-clients.ts";
import { createWebsites, type Websites } from "../../src/application/accounts/websites.ts";
import { createByokVoices } from "../../src/application/catalog/byok-voices.ts";
import { createExecuteCommand } from "../../src/application/execute-command.ts";
import { deriveKeys, type MasterKeys } from "../../src/bootstrap/master-key.ts";
import type { Credentials } from "../../src/domain/accounts/credentials.ts";
import { freePlan } from "../../src/domain/accounts/plan.ts";
import { EngineFailed } from "../../src/domain/errors.ts";
import type { ProviderCredentials } from "../../src/domain/synthesis/byok-providers.ts";
import type { Provider, ProviderClient, ProviderVoice } from "../../src/engines/provider.ts";
import { createCommandHandler } from "../../src/eventstore/command-handler.ts";
import type { RecordedEvent } from "../../src/eventstore/event-store.ts";
import { openSqliteEventStore } from "../../src/eventstore/sqlite/sqlite-event-store.ts";
import { collect } from "./collect.ts";
import { temporaryFolder } from "./service.ts";

export const rightKey = "right-key-5e1f0c93";
export const otherKey = "other-key-7ab2d481";
export const operator = { actor: "admin", requestId: "req-1" };

/** The voices of the fake Google, unless a test replaces them. */
export const googleVoices: readonly ProviderVoice[] = [
  { name: "en-US-Neural2-C", lang: "en-US", gender: "f" },
  { name: "de-DE-Neural2-B", lang: "de-DE", gender: "m" },
];

type Google = Provider<ProviderCredentials["gwn"]> & { readonly opened: string[] };

/**
 * Accepts `rightKey` and `otherKey`, and rejects every other key with a message that repeats it.
 * Records the credentials it was opened with.
 */
export const fakeGoogle = (
  list: () => Promise<readonly ProviderVoice[]> = async () => googleVoices,
): Google => {
  const opened: string[] = [];
  return {
    code: "gwn",
    name: "google",
    opened,
    open: (credentials) => {
      const apiKey = "apiKey" in credentials ? credentials.apiKey : credentials.serviceAccount.private_key;
      opened.push(apiKey);
      return accountWith(apiKey, async () => {
        if (apiKey !== rightKey && apiKey !== otherKey)
          throw new EngineFailed(`API key not valid: ${apiKey}.`);
        return await list();
      });
    },
  };
};

/** The account's audio is its credentials, so that a test can identify the account. */
const accountWith = (apiKey: string, listVoices: ProviderClient["listVoices"]): ProviderClient => ({
  listVoices,
  engine: {
    code: "gwn",
    version: () => "fake",
    prosody: () => [],
    takesSsml: () => false,
    synthesize: async () => ({
      encoding: { kind: "encoded", format: "mp3" },
      audio: (async function* () {
        yield Buffer.from(apiKey);
      })(),
    }),
  },
});

/**
 * The text of the account's audio.
 * @throws what its engine throws
 */
export const textFrom = async (account: ProviderClient | undefined): Promise<string | undefined> => {
  if (!account) return undefined;
  const prosody = { pitch: 1, rate: 1, volume: 1 };
  const request = { text: "x", ssml: false, voice: "v", lang: "en-US", prosody, format: "mp3" } as const;
  const { audio } = await account.engine.synthesize(request, new AbortController().signal);
  return Buffer.concat(await collect(audio)).toString();
};

/** The credentials services of one instance, over a real store. */
export interface CredentialsInstance {
  readonly credentials: CredentialsService;
  readonly accountOf: FindProviderClient;
  readonly ownVoicesOf: ReturnType<typeof createByokVoices>;
  readonly websites: Websites;
  readonly sealing: CredentialsCipher;
  readonly view: View<Credentials>;
  readonly folder: string;
  /** The warnings for the operator. */
  readonly warnings: string[];
  aWebsite(): Promise<string>;
  /** Appends events as another instance would, and waits until the views include them. */
  append(stream: string, type: string, data: object): Promise<void>;
  read(stream: string): Promise<RecordedEvent[]>;
  /** Resolves when the views include every event that the stream has now. */
  caughtUp(stream: string): Promise<void>;
  close(): Promise<void>;
}

export const masterKeys: MasterKeys = [Buffer.alloc(32, 7)];

export const openCredentialsInstance = async ({
  folder,
  keys = masterKeys,
  providers = { gwn: fakeGoogle() },
  deadlineMs = 15_000,
}: {
  /** Default: a temporary directory that is removed on close. */
  folder?: string;
  keys?: MasterKeys;
  providers?: Providers;
  deadlineMs?: number;
} = {}): Promise<CredentialsInstance> => {
  const own = folder === undefined ? await temporaryFolder() : undefined;
  const path = folder ?? own?.path ?? "";
  const store = await openSqliteEventStore({ path: join(path, "events.db") });
  const runner = createProjectionRunner({ store, projections: [websitesProjection, credentialsProjection] });
  await runner.start();
  const commands = {
    execute: createExecuteCommand({ handler: createCommandHandler({ store }), runner }),
    clock: () => Date.parse("2026-03-01T12:00:00.000Z"),
    random: randomBytes,
  };
  const credentials = runner.view(credentialsProjection);
  const views = { websites: runner.view(websitesProjection), credentials };
  const sealing = createCredentialsCipher({ keys: deriveKeys(keys, "credentials"), random: randomBytes });
  const warnings: string[] = [];
  const onError = (what: string, error: unknown): void => void warnings.push(`${what}: ${error}`);
  const noKeys = {
    issue: async () => ({ apiKey: "", apiSecret: "", secretId: "", websiteId: "", plan: freePlan }),
  };
  const websites = createWebsites({ ...commands, websites: views.websites, keys: noKeys });
  const read = (stream: string) => collect(store.readStream(stream));
  return {
    credentials: createCredentialsService({
      ...commands,
      ...views,
      providers,
      cipher: async () => sealing,
      deadlineMs,
    }),
    accountOf: createProviderClients({ credentials, providers, cipher: sealing, onError }),
    ownVoicesOf: createByokVoices(credentials),
    websites,
    sealing,
    view: credentials,
    folder: path,
    warnings,
    aWebsite: async () =>
      (await websites.register({ name: "Shop", origins: [], plan: freePlan }, operator)).id,
    append: async (stream, type, data) => {
      const event = { id: crypto.randomUUID(), type, data, metadata: {} };
      await runner.waitForPosition((await store.append(stream, [event], "any")).position);
    },
    read,
    caughtUp: async (stream) => runner.waitForPosition((await read(stream)).at(-1)?.position ?? -1),
    close: async () => {
      await runner.close();
      await store.close();
      await own?.remove();
    },
  };
};
