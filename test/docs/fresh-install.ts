import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, cp, mkdir, readFile, symlink, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { freePort } from "../support/free-port.ts";
import { python } from "../support/python.ts";
import { temporaryFolder } from "../support/service.ts";
import { goodCredentials, serveProviders } from "../support/wire/providers.ts";
import { root, type Snippet } from "./pages.ts";

const run = promisify(execFile);

/** A copy of the repository in which `scripts/quickstart` was run. */
export interface FreshInstall {
  readonly folder: string;
  /** What `scripts/quickstart` printed. */
  readonly greeting: string;
  /**
   * Writes the named files, runs the commands in one shell, in order, and returns the output of
   * each.
   */
  type(snippets: readonly Snippet[]): Promise<readonly Typed[]>;
  close(): Promise<void>;
}

export interface Typed {
  readonly command: string;
  /** What the page shows; empty if it shows nothing. */
  readonly shown: string;
  readonly printed: string;
}

const separator = "\u001e";

/** The commands of a page that a shell runs, and what the page shows of their output. */
const commandsIn = ({ language, text }: Snippet): Omit<Typed, "printed">[] => {
  if (language === "sh") return [{ command: text, shown: "" }];
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const end = part.indexOf("\n");
      return { command: part.slice(0, end), shown: part.slice(end + 1) };
    });
};

/**
 * Commands that need what a test does not have: other machines, and hours. `npm start` starts the
 * service in the background, on any port, with the page's settings.
 */
const replacedPrograms: Readonly<Record<string, string>> = {
  npm: `[ "$*" = start ] || exit 1
PORT=0 scripts/node src/main.ts >npm.log 2>&1 </dev/null & echo $! >>data/started.pids
until grep -q '"msg":"listening"' npm.log; do kill -0 $! || { cat npm.log >&2; exit 1; }; sleep 0.1; done`,
  node: `case "$1" in */restrict-access.ts) [ -f "$1" ];; *) exec "${process.execPath}" "$@";; esac`,
  python3: `exec "${python}" "$@"`,
  docker: `while [ $# -gt 0 ]; do [ "$1" != -f ] || [ -f "$2" ] || exit 1; shift; done`,
  aws: `for word; do case "$word" in file://*) [ -f "\${word#file://}" ] || exit 1;; esac; done`,
  voxledger: `case "$*" in "projections install" | "projections status") ;; *) exec scripts/voxledger "$@";; esac`,
};

/** Secrets that a reader has, where a page has a placeholder. */
const fillIn = (content: string, file: string): string =>
  file === "openai.json"
    ? content.replace("sk-…", goodCredentials.oai.apiKey)
    : content.replace(
        '"subscriptionKey": "…"',
        `"subscriptionKey": "${goodCredentials.msv.subscriptionKey}"`,
      );

/** Natural voices take seconds to load, which pages about something else need not wait for. */
export const openFreshInstall = async (voices: "natural" | "classic"): Promise<FreshInstall> => {
  const [{ path: folder, remove }, providers, port, wyomingPort] = await Promise.all([
    temporaryFolder(),
    serveProviders(),
    freePort(),
    freePort(),
  ]);
  await copyRepository(folder);
  // On a busy machine the service may refuse work for a moment (503).
  await writeFile(join(folder, ".curlrc"), "retry = 5\n");
  const bin = join(folder, "data/bin");
  await mkdir(bin, { recursive: true });
  for (const [name, script] of Object.entries(replacedPrograms)) {
    await writeFile(join(bin, name), `#!/usr/bin/env bash\n${script}\n`);
    await chmod(join(bin, name), 0o755);
  }
  const env = {
    PATH: `${bin}:${process.env.PATH}`,
    HOME: folder,
    PORT: String(port),
    BASE: `http://127.0.0.1:${port}`, // scripts/examples/websocket.js, which is run as it is
    ...providers.env,
    VOICES: voices,
    VOICE_GALLERY: "off", // its samples would be spoken during the test
  };
  const adapt = (given: string): string =>
    given.replaceAll("127.0.0.1:8080", `127.0.0.1:${port}`).replaceAll("10200", String(wyomingPort));

  const close = async (): Promise<void> => {
    const pids = await Promise.all(
      ["voxledger.pid", "started.pids"].map((file) =>
        readFile(join(folder, "data", file), "utf8").catch(() => ""),
      ),
    );
    await Promise.all(pids.join("\n").trim().split(/\s+/).filter(Boolean).map(endProcess));
    await providers.close();
    await remove();
  };

  try {
    const { stdout: greeting } = await run("scripts/quickstart", { env, cwd: folder });
    const type: FreshInstall["type"] = async (snippets) => {
      const commands: Omit<Typed, "printed">[] = [];
      const script = [". data/quickstart.env"];
      for (const snippet of snippets) {
        if (snippet.file !== "") {
          const path = join(folder, snippet.file);
          await mkdir(dirname(path), { recursive: true });
          await writeFile(path, adapt(fillIn(snippet.text, snippet.file)));
        } else if (snippet.language === "console" || snippet.language === "sh") {
          for (const command of commandsIn(snippet)) {
            commands.push(command);
            script.push(`printf '${separator}'`, adapt(command.command));
          }
        }
      }
      const shell = spawn("bash", ["-euo", "pipefail", "-c", script.join("\n")], {
        env,
        cwd: folder,
        stdio: ["ignore", "pipe", "pipe"],
      });
      const [stdout, stderr, [code]] = await Promise.all([
        text(shell.stdout),
        text(shell.stderr),
        once(shell, "exit"),
      ]);
      const printed = stdout.split(separator).slice(1);
      if (code !== 0) throw new Error(`${commands[printed.length - 1]?.command}\n${stdout}\n${stderr}`);
      return commands.map((command, index) => ({ ...command, printed: printed[index] ?? "" }));
    };
    return { folder, greeting, type, close };
  } catch (error) {
    await close();
    throw error;
  }
};

/** What git would commit, with the tools and packages that are installed already. */
const copyRepository = async (folder: string): Promise<void> => {
  const { stdout } = await run("git", ["ls-files", "-coz", "--exclude-standard"], { cwd: root });
  const topLevel = new Set(
    stdout
      .split("\0")
      .filter(Boolean)
      .map((path) => path.split("/")[0] ?? ""),
  );
  for (const name of topLevel) {
    if (name === "test") continue;
    await cp(join(root, name), join(folder, name), { recursive: true, preserveTimestamps: true });
  }
  for (const name of ["node_modules", ".tools", "voices"]) {
    await symlink(join(root, name), join(folder, name)).catch(() => undefined);
  }
  // Packages that are installed are not installed again.
  await utimes(join(folder, "package-lock.json"), 0, 0);
  await writeFile(join(folder, "scripts/test"), "#!/bin/sh\n");
};

const endProcess = async (pid: string): Promise<void> => {
  try {
    process.kill(Number(pid), "SIGTERM");
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      process.kill(Number(pid), 0);
    }
  } catch {
    // It has ended.
  }
};
