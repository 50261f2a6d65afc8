/** Resource limits of a speech tool. Measured: flite needs 60 MB and 7 s for its slowest pieces. */
export interface ToolLimits {
  readonly cpuSeconds?: number;
  /** Address space. */
  readonly memoryBytes?: number;
  /** Writable memory: for Node, which reserves address space without using it. */
  readonly dataBytes?: number;
  /** Size of any file that it writes. */
  readonly fileBytes?: number;
}

/**
 * Runs the tool under resource limits (`setrlimit`, which Node lacks): a shell sets them and
 * executes the tool. Tool and arguments are parameters of the shell, which it never parses. A soft
 * CPU limit ends the tool by SIGXCPU; a hard one would send SIGKILL, like an operator.
 */
export const limitedCommand = (
  tool: string,
  args: readonly string[],
  { cpuSeconds, memoryBytes, dataBytes, fileBytes }: ToolLimits,
): readonly [command: string, args: readonly string[]] => {
  const limits = [
    ...(cpuSeconds === undefined ? [] : [`ulimit -S -t ${cpuSeconds}`]),
    ...(memoryBytes === undefined ? [] : [`ulimit -v ${Math.ceil(memoryBytes / 1024)}`]),
    ...(dataBytes === undefined ? [] : [`ulimit -d ${Math.ceil(dataBytes / 1024)}`]),
    ...(fileBytes === undefined ? [] : [`ulimit -f ${Math.ceil(fileBytes / 512)}`]),
    "ulimit -c 0",
    "unset PWD",
  ];
  return ["/bin/sh", ["-c", `${limits.join(" && ")} && exec "$@"`, "sh", tool, ...args]];
};
