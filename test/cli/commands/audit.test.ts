import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { createAudit } from "../../../src/ledger/audit/audit.ts";
import { collect } from "../../support/collect.ts";
import { parseCsv } from "../../support/csv.ts";
import { duringSuite } from "../../support/during.ts";
import { append, busyMonth } from "../../support/logged-events.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";

const audited = join(import.meta.dirname, "audit-process.ts");

describe("voxledger audit and usage", () => {
  const temporary = duringSuite(openTemporaryStore);

  before(async () => {
    await append(temporary.store, busyMonth(2_000));
  });

  const voxledger = async (...args: string[]) => {
    const child = spawn(process.execPath, [audited, join(temporary.folder, "events.db"), ...args]);
    const [stdout, stderr, [exitCode]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "exit"),
    ]);
    return { stdout, stderr, exitCode };
  };

  const linesOf = (stdout: string) =>
    stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));

  it("print the whole audit with one line of JSON per entry", async () => {
    const { stdout, stderr, exitCode } = await voxledger("audit");
    expect({ stderr, exitCode }).to.deep.equal({ stderr: "", exitCode: 0 });
    expect(linesOf(stdout)).to.deep.equal(await collect(createAudit(temporary)({})));
  });

  it("print CSV, filtered by key, period and position", async () => {
    const options = ["--key", "ab", "--from", "2026-10-01T01:00:00Z", "--to", "2026-10-02"];
    const lines = linesOf((await voxledger("audit", ...options)).stdout);
    expect(new Set(lines.map(({ data }) => data.apiKey))).to.deep.equal(new Set(["ab"]));
    const after = `${lines[9].position}.${lines[9].index}`;
    const { stdout } = await voxledger("audit", ...options, "--after", after, "--format", "csv");
    const [, ...rows] = parseCsv(stdout);
    expect(rows.map(([position]) => Number(position))).to.deep.equal(
      lines.slice(10).map(({ position }) => position),
    );
  });

  it("print what was recorded for one request", async () => {
    const [entry, ...others] = linesOf((await voxledger("audit", "--request", "r-200")).stdout);
    expect(others).to.deep.equal([]);
    expect([entry.type, entry.data.requestId]).to.deep.equal(["SynthesisServed", "r-200"]);
  });

  it("end without an error when the reader closes the pipe", async () => {
    const audit = [process.execPath, audited, join(temporary.folder, "events.db"), "audit"];
    const shell = spawn("sh", ["-c", '{ "$@"; echo "exit $?" >&2; } | head -n 1', "sh", ...audit]);
    const [stdout, stderr] = await Promise.all([text(shell.stdout), text(shell.stderr)]);
    expect(linesOf(stdout)).to.have.length(1);
    expect(stderr).to.equal("exit 0\n");
  });

  it("fail with a one-line error message", async () => {
    for (const [args, exitCode, message] of [
      [["audit", "--from", "yesterday"], 1, /^error: from: Must be a date .*\n$/],
      [["audit", "--key", "nobody"], 1, /^error: There is no such key\.\n$/],
      [["audit", "--after", "x"], 2, /^error: .*<position>.<index> of an entry.*\n$/],
      [["usage", "--all", "--day", "monday"], 1, /^error: day: Must be today, yesterday or a date .*\n$/],
      [["usage"], 2, /^error: usage needs either an API key, or --all with --day\n$/],
      [
        ["usage", "--all", "--day", "today", "--archive", "old.ndjson"],
        2,
        /^error: usage --all takes no --archive: the totals of a day are in the log, also of archived journals\n$/,
      ],
      [
        ["usage", "--all", "--day", "today", "--month", "2026-01", "--as-of", "2026-01-05"],
        2,
        /^error: usage --all takes no --month, --as-of\n$/,
      ],
      [["usage", "--all"], 2, /^error: usage needs either .*\n$/],
      [["usage", "ab", "--all", "--day", "today"], 2, /^error: usage needs either .*\n$/],
      [["usage", "ab", "--day", "today"], 2, /^error: usage needs either .*\n$/],
      [["usage", "ab", "--month", "2026-13"], 1, /^error: month: Must be YYYY-MM, .*\n$/],
    ] as const) {
      const result = await voxledger(...args);
      expect(result).to.include({ stdout: "", exitCode });
      expect(result.stderr).to.match(message);
    }
  });

  it("print a month's usage as text or as JSON", async () => {
    const month = ["usage", "ab", "--month", "2026-10"];
    const report = JSON.parse((await voxledger(...month, "--json")).stdout);
    expect(report).to.include({ apiKey: "ab", month: "2026-10", quota: 1_000_000 });
    const { stdout } = await voxledger(...month);
    expect(stdout).to.match(/^key +ab\nmonth +2026-10\n/);
    expect(stdout).to.match(new RegExp(`\ncharacters +${report.characters.toLocaleString("en-US")}\n`));
    expect(stdout).to.match(/\nDAY +CHARACTERS +REQUESTS\n2026-10-01 /);
    const asOf = JSON.parse((await voxledger(...month, "--as-of", "2026-10-01T12:00:00Z", "--json")).stdout);
    expect(asOf.characters).to.be.below(report.characters);
  });

  it("print what all keys were charged on a day", async () => {
    const day = ["usage", "--all", "--day", "2026-10-01"];
    const all = JSON.parse((await voxledger(...day, "--json")).stdout);
    const expected = [];
    for (const apiKey of ["ab", "abc"]) {
      const { byDay } = JSON.parse((await voxledger("usage", apiKey, "--month", "2026-10", "--json")).stdout);
      const { characters, requests } = byDay.find((one: { day: string }) => one.day === "2026-10-01");
      expected.push({ websiteId: "w1", apiKey, requests, characters });
    }
    expect(all.keys).to.deep.equal(expected);
    expect(all.characters).to.equal(expected.reduce((sum, { characters }) => sum + characters, 0));
    const { stdout } = await voxledger(...day);
    expect(stdout)
      .to.match(/^day +2026-10-01\nas of +/)
      .and.to.match(/\nWEBSITE +KEY +CHARACTERS +REQUESTS\nw1 +ab /);
    const today = await voxledger("usage", "--all", "--day", "1999-01-01");
    expect(today.stdout).to.match(/\n\nNo key was charged\.\n$/);
  });
});
