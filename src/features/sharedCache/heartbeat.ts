/** What a heartbeat is opened with; times are milliseconds. */
export type HeartbeatSettings = {
  /** Between two checks. */
  interval: number;
  /** Without a working connection until it is replaced. */
  patience: number;
  /** When the connection was last known to work, on the clock of `performance.now()`. */
  healthyAt: () => number;
  /** One check; it handles its own failures. */
  check: () => Promise<void>;
  /** Called at every interval, even while a check is under way. */
  onTick?: () => void;
  /** Replaces the connection. */
  renew: () => void;
};

/** Checks a connection again and again, one check at a time, and replaces it when it does not answer for too long. */
export const openHeartbeat = ({ interval, patience, healthyAt, check, onTick, renew }: HeartbeatSettings) => {
  let isBusy = false;
  /** When the connection was last known to work, or replaced. */
  let latest = performance.now();

  /** Checks now, unless a check is under way. */
  const beat = async (): Promise<void> => {
    if (isBusy) return;
    isBusy = true;
    try {
      await check();
    } finally {
      isBusy = false;
    }
  };
  const renewNow = () => {
    latest = performance.now();
    renew();
  };
  const timer = setInterval(() => {
    onTick?.();
    latest = Math.max(latest, healthyAt());
    if (performance.now() - latest > patience) renewNow();
    void beat();
  }, interval);
  timer.unref();
  return { beat, renew: renewNow, close: () => clearInterval(timer) };
};
