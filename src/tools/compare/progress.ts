/** Shows how far a run has come. */
type Progress = { update(count: number, unexplained: number): void; end(): void };

type Terminal = { isTTY?: boolean; columns?: number; write(text: string): unknown };

const BAR_WIDTH = 24;

/** On a terminal one line that is redrawn, with rate and time left; else a line every ten seconds. `total`: `undefined` where it is unknown. */
export const openProgress = (
  out: Terminal,
  total: number | undefined,
  already: number,
  now: () => number = () => performance.now(),
): Progress => {
  const started = now();
  const every = out.isTTY ? 100 : 10_000;
  let next = started + every;
  const line = (count: number, unexplained: number): string => {
    const rate = (count - already) / Math.max(0.001, (now() - started) / 1000);
    const left = total === undefined || rate === 0 ? "" : `, ${duration((total - count) / rate)} left`;
    const of = total === undefined ? "" : ` of ${total}`;
    return `${count}${of} compared, ${rate.toFixed(rate < 10 ? 1 : 0)}/s${left}, ${unexplained} unexplained`;
  };
  return {
    update(count, unexplained) {
      if (now() < next) return;
      next = now() + every;
      const text = line(count, unexplained);
      if (out.isTTY) out.write(`\r\u001B[K${`${bar(count, total)}${text}`.slice(0, (out.columns ?? 80) - 1)}`);
      else out.write(`${text}\n`);
    },
    end: () => void (out.isTTY && out.write("\r\u001B[K")),
  };
};

const bar = (count: number, total: number | undefined): string => {
  if (total === undefined || total === 0) return "";
  const full = Math.round((Math.min(count, total) / total) * BAR_WIDTH);
  return `${"█".repeat(full)}${"░".repeat(BAR_WIDTH - full)} `;
};

/** Seconds -> `1m 05s` */
const duration = (seconds: number): string => {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole}s`;
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  return hours > 0
    ? `${hours}h ${String(minutes).padStart(2, "0")}m`
    : `${minutes}m ${String(whole % 60).padStart(2, "0")}s`;
};
