import { execFile } from "node:child_process";
import { Agent, get } from "node:http";
import { isInstalled } from "./processes.ts";

export type Load = { requests: number; perSecond: number };

const CONNECTIONS = 64;

/** Loads a URL for some seconds from the other core; anything but a 2xx is an error. */
export const load = (url: string, seconds: number): Promise<Load> =>
  isInstalled("wrk") ? loadByWrk(url, seconds) : loadByNode(url, seconds);

const loadByWrk = (url: string, seconds: number): Promise<Load> =>
  new Promise((resolve, reject) => {
    const wrk = ["wrk", "-t1", `-c${CONNECTIONS}`, `-d${seconds}s`, url];
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
const loadByNode = async (url: string, seconds: number): Promise<Load> => {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const end = performance.now() + seconds * 1000;
  let requests = 0;
  const once = () =>
    new Promise<void>((resolve, reject) => {
      get(url, { agent }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`${url} answered ${response.statusCode}`));
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
