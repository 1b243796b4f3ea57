type Terminal = { isTTY?: boolean; columns?: number; write(text: string): unknown };

const BAR_WIDTH = 24;

/**
 * Shows the progress of a run: on a terminal as a line that is redrawn, else by `say`, a line every ten seconds.
 * `total`: the number of requests, if it is known.
 */
export const showProgress = (
  out: Terminal,
  total: number | undefined,
  counts: () => { done: number; unexplained: number },
  say: (line: string) => void,
): { close: () => void } => {
  const started = performance.now();
  const show = () => {
    const { done, unexplained } = counts();
    const rate = done / ((performance.now() - started) / 1000);
    const left = total === undefined || rate === 0 ? "" : `, ${Math.ceil((total - done) / rate)} s left`;
    const text = `${done}${total === undefined ? "" : ` of ${total}`} compared, ${rate.toFixed(rate < 10 ? 1 : 0)}/s${left}, ${unexplained} unexplained`;
    if (!out.isTTY) return say(text);
    const full = total ? Math.round((done / total) * BAR_WIDTH) : 0;
    const bar = total ? `${"█".repeat(full)}${"░".repeat(BAR_WIDTH - full)} ` : "";
    return out.write(`\r\u001B[K${`${bar}${text}`.slice(0, (out.columns ?? 80) - 1)}`);
  };
  const timer = setInterval(show, out.isTTY ? 100 : 10_000);
  return {
    close() {
      clearInterval(timer);
      if (out.isTTY) out.write("\r\u001B[K");
    },
  };
};
