import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { openFilesystemAudioStore } from "../../../../src/audio/store/filesystem/filesystem-audio-store.ts";
import { composeAuditProof } from "../../../../src/bootstrap/commands/audit-proof.ts";
import { composeRestore } from "../../../../src/bootstrap/commands/backup/restore-backup.ts";
import { composeBackup } from "../../../../src/bootstrap/commands/backup/take-backup.ts";
import { composeCommandLine } from "../../../../src/bootstrap/commands/command-line.ts";
import { operator, writing } from "../../../../src/cli/command.ts";
import { freePlan } from "../../../../src/domain/accounts/plan.ts";
import { createNoteVerifier } from "../../../../src/domain/ledger/seals/note-signer.ts";
import { readSettings } from "../../../../src/settings/read-settings.ts";
import { collect } from "../../../support/collect.ts";
import { rejection } from "../../../support/rejection.ts";

export const hashOf = (digit: string): string => digit.repeat(64);
export const nameOf = (digit: string): string => `public/${hashOf(digit)}.mp3`;
/** The path of an object below the folder of audio. */
export const fileOf = (digit: string): string =>
  `public/${digit.repeat(2)}/${digit.repeat(2)}/${hashOf(digit)}.mp3`;

const passphrase = async (): Promise<string> => "correct horse battery staple";
const { signal: never } = new AbortController();

export type Installation = ReturnType<typeof installationIn>;

/** An installation in `folder/data`, whose settings are those of `env`, and its backups. */
export const installationIn = (folder: string, env: Record<string, string>) => {
  const inFolder = (name: string): string => join(folder, name);
  env.DATA_DIR ??= inFolder("data");
  const settings = () => readSettings(env);
  const withStore = async (place: string, use: (store: Store) => Promise<unknown>): Promise<void> => {
    const store = await openFilesystemAudioStore({ path: inFolder(place) });
    await use(store);
    await store.close();
  };
  return {
    env,
    settings,
    inFolder,
    register: async (name: string): Promise<void> => {
      const services = await composeCommandLine(settings(), writing);
      await services.websites.register({ name, origins: [], plan: freePlan }, operator);
      await services.close();
    },
    seal: () => collect(composeAuditProof(settings).exportAudit(operator)),
    backUp: ({ hasAudio = true, verifies = false, withKey = false, to = "backup", signal = never } = {}) =>
      composeBackup(settings, env)(inFolder(to), {
        ...{ hasAudio, verifies, signal },
        readPassphrase: withKey ? passphrase : undefined,
      }),
    restore: ({
      hasAudio = true,
      from = "backup",
      key = "",
      withoutKey = false,
      withoutSeal = false,
      isLogRestored = false,
      signal = never,
    } = {}) => {
      const keys = [createNoteVerifier(key) ?? []].flat();
      const options = {
        hasAudio,
        keys,
        withoutKey,
        withoutSeal,
        isLogRestored,
        readPassphrase: passphrase,
        signal,
      };
      return composeRestore(settings)(inFolder(from), options);
    },
    lose: () => rm(inFolder("data"), { recursive: true }),
    put: (digit: string, text = "audio") =>
      withStore("data/audio", (store) => store.put(nameOf(digit), contentOf(text))),
    remove: (digit: string) => withStore("data/audio", (store) => store.remove(hashOf(digit))),
    deleteAudio: async (digit: string): Promise<void> => {
      const services = await composeCommandLine(settings(), writing);
      await services.deleteAudio(hashOf(digit), operator);
      await services.close();
    },
    read: (name: string): Promise<string> => readFile(inFolder(name), "utf8"),
    filesIn: async (path: string): Promise<string[]> => {
      const entries = await readdir(inFolder(path), { recursive: true, withFileTypes: true });
      return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
    },
  };
};

type Store = Awaited<ReturnType<typeof openFilesystemAudioStore>>;

const contentOf = (text: string) => ({
  bytes: Buffer.from(text),
  length: { samples: 5, sampleRate: 22_050 },
});

export const refusal = async (work: Promise<unknown>): Promise<string> =>
  ((await rejection(work)) as Error).message;
