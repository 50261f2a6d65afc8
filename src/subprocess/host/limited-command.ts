/** What one speech tool may use. Measured: flite takes 60 MB of memory and 7 s for its slowest pieces. */
export interface ToolLimits {
  readonly cpuSeconds: number;
  /** Of address space. */
  readonly memoryBytes: number;
  /** Of any file that it writes. */
  readonly fileBytes: number;
}

/**
 * A command that runs the tool under resource limits (`setrlimit`, which Node does not have): the shell sets them and
 * becomes the tool. The tool and its arguments are the shell's parameters and are never parsed by it. A soft limit of
 * processor time ends the tool by SIGXCPU, a hard one would by SIGKILL, which looks like an operator's doing.
 */
export const limitedCommand = (
  tool: string,
  args: readonly string[],
  { cpuSeconds, memoryBytes, fileBytes }: ToolLimits,
): readonly [command: string, args: readonly string[]] => {
  const limits = [
    `ulimit -S -t ${cpuSeconds}`,
    `ulimit -v ${Math.ceil(memoryBytes / 1024)}`,
    `ulimit -f ${Math.ceil(fileBytes / 512)}`,
    "ulimit -c 0",
    "unset PWD",
  ];
  return ["/bin/sh", ["-c", `${limits.join(" && ")} && exec "$@"`, "sh", tool, ...args]];
};
