/**
 * The resource limits of a speech tool. flite needs 60 MB and 7 s for its slowest pieces
 * (measured).
 */
export interface ToolLimits {
  readonly cpuSeconds?: number;
  /** The limit of the address space. */
  readonly memoryBytes?: number;
  /**
   * The limit of writable memory. It is for Node, which reserves address space without using it.
   */
  readonly dataBytes?: number;
  /** The largest size of a file that the tool writes. */
  readonly fileBytes?: number;
}

/**
 * Returns the command that runs the tool under resource limits (`setrlimit`, which Node lacks): a
 * shell sets them and executes the tool. The tool and its arguments are parameters of the shell,
 * which never parses them. A soft CPU limit ends the tool by SIGXCPU. A hard limit would send
 * SIGKILL, which could also come from an operator.
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
