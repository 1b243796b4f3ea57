import { readFileSync } from "node:fs";
import { SERVER_CORE, UPSTREAM_CORE } from "./cores.ts";
import { cpuMicroseconds } from "./processes.ts";

/** The processor time that all processes have used on the two cores. */
const busyMicroseconds = (): number => {
  const lines = readFileSync("/proc/stat", "utf8").split("\n");
  const ticks = [SERVER_CORE, UPSTREAM_CORE].flatMap((core) => {
    const [user, nice, system, , , irq, softirq, steal] = (lines.find((line) => line.startsWith(`cpu${core} `)) ?? "")
      .split(" ")
      .slice(1)
      .map(Number);
    return [user, nice, system, irq, softirq, steal];
  });
  return ticks.reduce((sum: number, count) => sum + (count ?? 0), 0) * 10_000;
};

/** The processor time of this process and of its ended children, which are the load generators. */
const ownMicroseconds = (): number => {
  const fields = readFileSync("/proc/self/stat", "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * 10_000;
};

/** Measures the share of a core (0 to 2) that other processes use, from now until the returned function is called. */
export const watchNeighbours = (pid: number): (() => number) => {
  const others = () => busyMicroseconds() - ownMicroseconds() - cpuMicroseconds(pid);
  const [started, before] = [performance.now(), others()];
  return () => (others() - before) / 1000 / (performance.now() - started);
};
