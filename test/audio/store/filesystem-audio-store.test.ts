import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmod,
  type FileHandle,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  stat,
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { crc32 } from "node:zlib";
import { expect } from "chai";
import {
  type AudioPart,
  AudioStoreFull,
  AudioStoreUnavailable,
  DamagedAudio,
} from "../../../src/audio/store/audio-store.ts";
import { openFilesystemAudioStore } from "../../../src/audio/store/filesystem/filesystem-audio-store.ts";
import { audioStoreContract } from "../../contracts/audio-store.ts";
import { rejection } from "../../support/rejection.ts";
import { nameOf, objectOf, soundOf } from "../pipeline/sounds.ts";

const folder = (): Promise<string> => mkdtemp(join(tmpdir(), "voxledger-audio-"));

audioStoreContract("filesystem", async () => {
  const path = await folder();
  const store = await openFilesystemAudioStore({ path });
  return {
    store,
    again: () => openFilesystemAudioStore({ path }),
    breakDown: async () => {
      await rm(path, { recursive: true });
      await writeFile(path, "no folder");
    },
    end: async () => {
      await store.close();
      await rm(path, { recursive: true, force: true });
    },
  };
});

describe("The filesystem audio store", () => {
  let path: string;
  beforeEach(async () => {
    path = await folder();
  });
  afterEach(() => rm(path, { recursive: true, force: true }));

  const name = nameOf(1);
  const fileOf = (object: string): string => {
    const [prefix = "", file = ""] = object.split("/");
    return join(path, prefix, file.slice(0, 2), file.slice(2, 4), file);
  };

  it("stores the object's unchanged bytes and its length two directory levels deep, readable only by the owner", async () => {
    const store = await openFilesystemAudioStore({ path: join(path, "new", "folder") });
    await store.put(name, objectOf(soundOf(1)));
    const file = fileOf(name).replace(path, join(path, "new", "folder"));
    expect(soundOf(1).equals((await readFile(file)).subarray(0, -32))).to.equal(true);
    expect((await stat(file)).mode & 0o777).to.equal(0o600);
    for (let up = dirname(file); up !== path; up = dirname(up)) {
      expect((await stat(up)).mode & 0o777).to.equal(0o700);
    }
  });

  it("leaves no files except the objects", async () => {
    const store = await openFilesystemAudioStore({ path });
    await Promise.all(Array.from({ length: 20 }, (_, i) => store.put(nameOf(i), objectOf(soundOf(i)))));
    await Promise.all(Array.from({ length: 20 }, () => store.put(name, objectOf(soundOf(1)))));
    await store.ping();
    expect(await readdir(join(path, "incoming"))).to.deep.equal([]);
    expect(await objectsIn(path)).to.have.length(20);
  });

  it("recreates a shard's directory after its removal", async () => {
    const store = await openFilesystemAudioStore({ path });
    await store.put(name, objectOf(soundOf(1)));
    await rm(join(path, "public"), { recursive: true });
    await store.put(name, objectOf(soundOf(1)));
    expect(soundOf(1).equals((await store.get(name))?.bytes as Buffer)).to.equal(true);
  });

  describe("a file that was emptied or truncated from outside", () => {
    for (const size of [0, 1, 10_000]) {
      it(`is replaced by the object whose first ${size} bytes it holds`, async () => {
        const store = await openFilesystemAudioStore({ path });
        await mkdir(dirname(fileOf(name)), { recursive: true });
        await writeFile(fileOf(name), soundOf(1).subarray(0, size));
        await store.put(name, objectOf(soundOf(1)));
        expect(soundOf(1).equals((await store.get(name))?.bytes as Buffer)).to.equal(true);
      });
    }

    it("is not served: every missing or changed byte is noticed", async () => {
      const store = await openFilesystemAudioStore({ path });
      await store.put(name, objectOf(soundOf(1)));
      const whole = await readFile(fileOf(name));
      const changed = (at: number) => whole.map((byte, index) => (index === at ? byte ^ 1 : byte));
      const cuts = [0, 1, 31, 32, 33, 5000, whole.length - 1].map((size) => whole.subarray(0, size));
      const changes = [0, 5000, whole.length - 33, whole.length - 20, whole.length - 1].map(changed);
      for (const bytes of [...cuts, ...changes, Buffer.concat([whole, Buffer.alloc(1)])]) {
        await writeFile(fileOf(name), bytes);
        expect(await store.get(name).catch((error: unknown) => error)).to.be.instanceOf(DamagedAudio);
        const part = await store.read(name, { start: 0, end: whole.length }).catch((error: unknown) => error);
        if (part instanceof DamagedAudio) continue;
        const read = part as AudioPart;
        expect(read.hasChecksum(crc32(read.bytes))).to.equal(false);
      }
      for (const bytes of cuts) {
        await writeFile(fileOf(name), bytes);
        expect(await store.stat(name).catch((error: unknown) => error)).to.be.instanceOf(DamagedAudio);
      }
    });

    it("leaves no file open: after damage, an abort or a missing object", async () => {
      const store = await openFilesystemAudioStore({ path });
      await store.put(name, objectOf(soundOf(1)));
      await store.put(nameOf(2), objectOf(soundOf(2)));
      await writeFile(fileOf(nameOf(2)), "damaged");
      const openFiles = async () => (await readdir("/proc/self/fd")).length;
      const before = await openFiles();
      for (let round = 0; round < 20; round++) {
        const controller = new AbortController();
        const reading = store.read(name, { start: 0, end: 20_000 }, controller.signal);
        controller.abort();
        await Promise.allSettled([
          reading,
          store.stat(nameOf(2)),
          store.read(nameOf(2), { start: 0, end: 1 }),
          store.read(nameOf(3), { start: 0, end: 1 }),
        ]);
      }
      expect(await openFiles()).to.be.below(before + 20);
    });
  });

  describe("at startup", () => {
    const old = new Date(Date.now() - 2 * 60 * 60_000);
    const part = "0b5b7a0e-7f2d-4c83-9a53-5a3c1f3ad3f1.part";

    it("removes old temporary files of killed writers", async () => {
      await mkdir(join(path, "incoming"));
      await writeFile(join(path, "incoming", part), "half a sound");
      await utimes(join(path, "incoming", part), old, old);
      await openFilesystemAudioStore({ path });
      expect(await readdir(join(path, "incoming"))).to.deep.equal([]);
    });

    it("keeps recent temporary files of other processes and foreign files", async () => {
      const incoming = join(path, "incoming");
      await mkdir(join(incoming, part.replace("0b", "0c")), { recursive: true });
      for (const kept of [part, "notes.txt", "x.part"]) await writeFile(join(incoming, kept), "");
      for (const kept of ["notes.txt", "x.part", part.replace("0b", "0c")])
        await utimes(join(incoming, kept), old, old);
      await openFilesystemAudioStore({ path });
      expect(await readdir(incoming)).to.have.members([
        part,
        "notes.txt",
        "x.part",
        part.replace("0b", "0c"),
      ]);
    });
  });

  describe("when it is killed with SIGKILL during many puts", () => {
    it("has only complete objects, including every acknowledged one, and accepts the rest afterwards", async () => {
      for (let round = 0; round < 3; round++) {
        const acknowledged = await putAndKill(path, 40 + round * 25);
        for (const file of await objectsIn(path)) {
          const index = (await readFile(file)).readUInt32BE(0);
          expect(file).to.equal(fileOf(nameOf(index)));
          expect(soundOf(index).equals((await readFile(file)).subarray(0, -32)), "whole").to.equal(true);
        }
        const store = await openFilesystemAudioStore({ path });
        for (const index of acknowledged) {
          expect(soundOf(index).equals((await store.get(nameOf(index)))?.bytes as Buffer)).to.equal(true);
        }
        await store.put(nameOf(1_000_000), objectOf(soundOf(1_000_000)));
      }
    });
  });

  describe("on file system errors", () => {
    it("throws AudioStoreUnavailable for a write to a read-only directory, and still reads", async () => {
      const store = await openFilesystemAudioStore({ path });
      await store.put(name, objectOf(soundOf(1)));
      expect(await asStranger(path)).to.deep.equal({
        put: "AudioStoreUnavailable EACCES",
        ping: "AudioStoreUnavailable EACCES",
        get: "whole",
      });
    });

    it("throws AudioStoreUnavailable when the directory cannot be opened", async () => {
      await writeFile(join(path, "file"), "");
      const opened = openFilesystemAudioStore({ path: join(path, "file") });
      expect(await opened.catch((error: unknown) => error)).to.be.instanceOf(AudioStoreUnavailable);
    });

    it("throws AudioStoreFull when both the write and the close of a file fail, as they can over a network", async () => {
      const store = await openFilesystemAudioStore({ path });
      const handle = await open(path);
      const calls: FileHandle = Object.getPrototypeOf(handle);
      const { writeFile: write, [Symbol.asyncDispose]: dispose } = calls;
      const failure = (code: string, syscall: string) => Object.assign(new Error(code), { code, syscall });
      calls.writeFile = () => Promise.reject(failure("ENOSPC", "write"));
      calls[Symbol.asyncDispose] = async function () {
        await dispose.call(this);
        throw failure("EIO", "close");
      };
      try {
        const error = await rejection(store.put(name, objectOf(soundOf(1))));
        expect(error).to.be.instanceOf(AudioStoreFull);
        expect((error as Error).message).to.include("ENOSPC");
      } finally {
        Object.assign(calls, { writeFile: write, [Symbol.asyncDispose]: dispose });
        await handle.close();
      }
    });

    it("throws AudioStoreUnavailable when the disk is full midway, and leaves no file", async () => {
      const { lines, exited } = start([
        "bash",
        "-c",
        `ulimit -f 64; exec "$0" "$@"`,
        ...writer(path, "large"),
      ]);
      const said: string[] = [];
      for await (const line of lines) said.push(line);
      await exited;
      expect(said).to.deep.equal(["AudioStoreUnavailable EFBIG"]);
      expect(await objectsIn(path)).to.deep.equal([]);
      expect(await readdir(join(path, "incoming"))).to.deep.equal([]);
    });
  });
});

const writer = (path: string, mode: string): string[] => [
  process.execPath,
  join(import.meta.dirname, "put-until-killed.ts"),
  path,
  mode,
];

interface Child {
  readonly child: ChildProcess;
  readonly lines: AsyncIterable<string>;
  readonly exited: Promise<unknown>;
}

const start = ([command = "", ...args]: readonly string[]): Child => {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  return { child, lines: createInterface({ input: child.stdout }), exited: once(child, "exit") };
};

/**
 * Runs a child process that puts objects, and kills it after it has reported `count`; returns the
 * reported objects.
 */
const putAndKill = async (path: string, after: number): Promise<number[]> => {
  const { child, lines, exited } = start(writer(path, "many"));
  const acknowledged: number[] = [];
  for await (const line of lines) {
    acknowledged.push(Number(line));
    if (acknowledged.length === after) child.kill("SIGKILL");
  }
  await exited;
  expect(child.signalCode).to.equal("SIGKILL");
  return acknowledged;
};

/** Spawn options for a process that may read the directories but not write them. */
const asStranger = async (path: string): Promise<unknown> => {
  const folders = [path, ...(await readdir(path, { recursive: true })).map((each) => join(path, each))];
  for (const each of folders) await chmod(each, (await stat(each)).isDirectory() ? 0o555 : 0o444);
  try {
    const { lines, exited } = start(writer(path, "stranger"));
    let response: unknown;
    for await (const line of lines) response = JSON.parse(line);
    await exited;
    return response;
  } finally {
    for (const each of folders) await chmod(each, 0o700);
  }
};

const objectsIn = async (path: string): Promise<string[]> => {
  const all = await readdir(path, { recursive: true, withFileTypes: true });
  return all
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.startsWith(join(path, "incoming")));
};
