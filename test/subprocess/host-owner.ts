import { openSubprocessHost } from "../../src/subprocess/subprocess-host.ts";
import { encodeSilence } from "../support/encode-silence.ts";

/**
 * Opens a host, starts a long flite job, prints the helper's process id and runs until it is
 * killed. With `close` it closes the host instead, and must then exit without `process.exit`.
 */
const host = await openSubprocessHost({ encodesByLibrary: false });
if (process.argv[2] === "close") {
  await host.close();
} else {
  const args = ["-voice", "slt", "-f", "-", "-o", "/dev/stdout"];
  const input = "A long word. ".repeat(2000);
  const sound = host.run({ tool: "flite", args, output: "file", input }, new AbortController().signal);
  await encodeSilence(host, "ogg");
  process.send?.({ pid: host.stats().pid });
  for await (const _ of sound);
}
