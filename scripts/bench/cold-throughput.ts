/**
 * Cold requests of 100 characters per second, eight at once; compared with another version of the
 * service, whose checkout (with its dependencies installed) is the argument. Also compares the CPU
 * time of all processes per request, which other load on the machine hardly affects.
 */
import { join } from "node:path";
import { type Credentials, registerWebsite, synthesizeByPost } from "../../test/support/client.ts";
import { type RunningService, startInstance } from "../../test/support/instance.ts";
import { cpuMilliseconds } from "./cpu-time.ts";
import { figuresOf, perSecond } from "./side-by-side.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

const voice = "UK English Female";
const atOnce = 8;
/** 1,000 requests to each. */
const rounds = 10;
const perRound = 100;

const [checkout] = process.argv.slice(2);
if (checkout === undefined) throw new Error("usage: cold-throughput.ts CHECKOUT");

let sentences = 0;
const freshSentence = (): string => {
  sentences += 1;
  return `This is sentence number ${String(sentences).padStart(5, "0")}, and the service has never received a request to speak it.`;
};

interface Subject {
  readonly service: RunningService;
  readonly website: Credentials;
  /** Requests per second, and CPU milliseconds per request, of each round. */
  readonly rates: number[];
  readonly cpu: number[];
}

const open = async (service: RunningService): Promise<Subject> => ({
  service,
  website: await registerWebsite(service.url),
  rates: [],
  cpu: [],
});

const speak = async ({ service, website }: Subject): Promise<void> => {
  const response = await synthesizeByPost(service.url, website, { voice, text: freshSentence() });
  await response.arrayBuffer();
  const source = response.headers.get("svc-cached");
  if (response.status !== 200 || source !== "miss")
    throw new Error(`answered with ${response.status}, ${source}`);
};

const round = async (subject: Subject): Promise<void> => {
  const before = cpuMilliseconds(subject.service.pid);
  let left = perRound;
  const ask = async (): Promise<void> => {
    while (left-- > 0) await speak(subject);
  };
  subject.rates.push(
    await perSecond(perRound, async () => void (await Promise.all(Array.from({ length: atOnce }, ask)))),
  );
  subject.cpu.push((cpuMilliseconds(subject.service.pid) - before) / perRound);
};

await inTemporaryFolder(async (folder) => {
  const env = { BURST_LIMIT: "1000000" };
  const ours = await open(await startInstance(join(folder, "ours"), env));
  const bare = await open(await startInstance(join(folder, "other"), env, checkout));
  try {
    for (const subject of [ours, bare]) for (let n = 0; n < 10; n++) await speak(subject);
    for (let n = 0; n < rounds; n++) for (const subject of [ours, bare]) await round(subject);
    const name = `cold requests, ${atOnce} at once, beside another version`;
    const rates = { name, unit: "/s", aim: { atLeast: 3 } };
    const cpu = { name: `${name}: CPU time of all processes`, unit: "ms", aim: { atMost: 1 / 3 } };
    console.log(JSON.stringify(figuresOf(rates, { ours: ours.rates, bare: bare.rates })));
    console.log(JSON.stringify(figuresOf(cpu, { ours: ours.cpu, bare: bare.cpu })));
  } finally {
    await Promise.all([ours.service.stop(), bare.service.stop()]);
  }
});
