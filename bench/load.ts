import { execFile } from "node:child_process";
import { Agent, get } from "node:http";
import { isInstalled } from "./processes.ts";
import { percentile } from "./statistics.ts";

/** `p99`: milliseconds within which 99 of 100 requests were answered. */
type Load = { requests: number; perSecond: number; p99: number };

const CONNECTIONS = 64;
/** More numbers than a load of some seconds sends requests. */
const NUMBERS = 1_000_000;

let number = 2;
/** The URL with a new number in place of `{n}`. */
export const distinct = (url: string): string => url.replace("{n}", () => String(number++));

/** `headers`: of each request. `hits`: the number of requests in 100 that have the number 1 in place of `{n}`. */
type LoadOptions = { headers?: Record<string, string> | undefined; hits?: number | undefined };

/**
 * Sends load to a URL for some seconds from the other core.
 *
 * @throws After an answer that is not 2xx or 3xx.
 */
export const load = (url: string, seconds: number, { headers = {}, hits = 0 }: LoadOptions = {}): Promise<Load> =>
  isInstalled("wrk") ? loadByWrk(url, seconds, headers, hits) : loadByNode(url, seconds, headers, hits);

const loadByWrk = (url: string, seconds: number, headers: Record<string, string>, hits: number): Promise<Load> =>
  new Promise((resolve, reject) => {
    const sent = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
    const { origin } = new URL(url);
    const target = url.includes("{n}")
      ? ["-s", "bench/distinct.lua", origin, "--", url.slice(origin.length), String(number), String(hits)]
      : [url];
    number += NUMBERS;
    // An answer that takes longer than wrk's two seconds is slow, not wrong: p99 shows it.
    const limits = ["-t1", `-c${CONNECTIONS}`, `-d${seconds}s`, "--timeout", "30s"];
    const wrk = ["wrk", ...limits, "--latency", ...sent, ...target];
    const [file, ...args] = isInstalled("taskset") ? ["taskset", "-c", "1", ...wrk] : wrk;
    execFile(file as string, args, (error, output) => {
      if (error) return reject(error);
      if (/Non-2xx|Socket errors: (?!connect 0, read 0, write 0, timeout 0)/.test(output))
        return reject(new Error(`${url} answered with errors:\n${output}`));
      return resolve({
        requests: Number(/(\d+) requests in/.exec(output)?.[1]),
        perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1]),
        p99: readMilliseconds(/^ +99% +(\S+)/m.exec(output)?.[1] ?? ""),
      });
    });
  });

/** `12.34ms` -> 12.34, as wrk writes them. */
const readMilliseconds = (text: string): number => {
  const [, value, unit = ""] = /^([\d.]+)(us|ms|s)$/.exec(text) ?? [];
  return Number(value) * ({ us: 0.001, ms: 1, s: 1000 }[unit] ?? NaN);
};

/** A load generator in Node. It is slower than the servers that it measures, so the ratios say less. */
const loadByNode = async (
  url: string,
  seconds: number,
  headers: Record<string, string>,
  hits: number,
): Promise<Load> => {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const end = performance.now() + seconds * 1000;
  const took: number[] = [];
  let count = 0;
  const next = () => ((++count * 37) % 100 < hits ? url.replace("{n}", "1") : distinct(url));
  const once = () =>
    new Promise<void>((resolve, reject) => {
      get(next(), { agent, headers }, (response) => {
        if (response.statusCode !== 200 && response.statusCode !== 304)
          reject(new Error(`${url} answered ${response.statusCode}`));
        response.resume().once("end", resolve);
      }).once("error", reject);
    });
  const work = async () => {
    while (performance.now() < end) {
      const started = performance.now();
      await once();
      took.push(performance.now() - started);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  agent.destroy();
  return { requests: took.length, perSecond: took.length / seconds, p99: percentile(took, 0.99) };
};
