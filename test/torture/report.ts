import type { Check } from "./lib/attack.ts";

type Terminal = { isTTY?: boolean; columns?: number; write: (text: string) => unknown };

/** On a terminal one line that is drawn again; else a line every ten seconds. */
export const openProgress = (
  out: Terminal,
  name: string,
  now: () => number = () => performance.now(),
): { say: (text: string) => void; end: () => void } => {
  const every = out.isTTY === true ? 100 : 10_000;
  let next = now() + (out.isTTY === true ? 0 : every);
  return {
    say(text) {
      if (text === "" || now() < next) return;
      next = now() + every;
      const line = `${name}: ${text}`;
      if (out.isTTY === true) out.write(`\r\u001B[K${line.slice(0, (out.columns ?? 80) - 1)}`);
      else out.write(`${line}\n`);
    },
    end: () => void (out.isTTY === true && out.write("\r\u001B[K")),
  };
};

/** One line an attack: whether it held, and else its first failure. */
export const tableOf = (results: readonly { name: string; seconds: number; checks: readonly Check[] }[]): string => {
  const width = Math.max(6, ...results.map(({ name }) => name.length));
  const rows = results.map(({ name, seconds, checks }) => {
    const failed = checks.filter(({ holds }) => !holds);
    const [first] = failed;
    const verdict = failed.length === 0 ? "held" : "FAILED";
    const about = first === undefined ? "" : `${first.what}: ${first.measured.split("\n")[0]} (${first.bound})`;
    return `| ${name.padEnd(width)} | ${verdict.padEnd(6)} | ${`${checks.length - failed.length}/${checks.length}`.padEnd(6)} | ${`${seconds.toFixed(0)} s`.padStart(5)} | ${about.slice(0, 160)} |`;
  });
  const head = `| ${"attack".padEnd(width)} | result | checks |  took | first failure |`;
  const line = `| ${"-".repeat(width)} | ------ | ------ | ----: | --- |`;
  const failures = results.filter(({ checks }) => checks.some(({ holds }) => !holds)).length;
  const closing = failures === 0 ? `All ${results.length} held.` : `${failures} of ${results.length} did not hold.`;
  return [head, line, ...rows, "", closing].join("\n");
};
