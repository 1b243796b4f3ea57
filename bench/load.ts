import { execFile } from "node:child_process";
import { Agent, get } from "node:http";
import { isInstalled } from "./processes.ts";

export type Load = { requests: number; perSecond: number };

const CONNECTIONS = 64;

/** Loads a URL for some seconds from the other core; anything but a 2xx or 3xx is an error. */
export const load = (url: string, seconds: number, headers: Record<string, string> = {}): Promise<Load> =>
  isInstalled("wrk") ? loadByWrk(url, seconds, headers) : loadByNode(url, seconds, headers);

const loadByWrk = (url: string, seconds: number, headers: Record<string, string>): Promise<Load> =>
  new Promise((resolve, reject) => {
    const sent = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
    const wrk = ["wrk", "-t1", `-c${CONNECTIONS}`, `-d${seconds}s`, ...sent, url];
    const [file, ...args] = isInstalled("taskset") ? ["taskset", "-c", "1", ...wrk] : wrk;
    execFile(file as string, args, (error, output) => {
      if (error) return reject(error);
      if (/Non-2xx|Socket errors: (?!connect 0, read 0, write 0, timeout 0)/.test(output))
        return reject(new Error(`${url} answered with errors:\n${output}`));
      return resolve({
        requests: Number(/(\d+) requests in/.exec(output)?.[1]),
        perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1]),
      });
    });
  });

/** A generator of our own, slower than what it measures: the ratios then say less. */
const loadByNode = async (url: string, seconds: number, headers: Record<string, string>): Promise<Load> => {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const end = performance.now() + seconds * 1000;
  let requests = 0;
  const once = () =>
    new Promise<void>((resolve, reject) => {
      get(url, { agent, headers }, (response) => {
        if (response.statusCode !== 200 && response.statusCode !== 304)
          reject(new Error(`${url} answered ${response.statusCode}`));
        response.resume().once("end", resolve);
      }).once("error", reject);
    });
  const work = async () => {
    while (performance.now() < end) {
      await once();
      requests++;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  agent.destroy();
  return { requests, perSecond: requests / seconds };
};
