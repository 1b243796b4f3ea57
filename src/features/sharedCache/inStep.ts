import { openLease } from "./lease.ts";

/** Whether a gateway has heard of every drop until a moment ago, and how it gets there again. */
export type InStep = {
  trusted(): boolean;
  /** The last epoch heard of. */
  epoch(): string | undefined;
  heard(epoch: string): void;
  lose(why: string): void;
  /** Asks at once, not at the next beat. */
  beat(): void;
  failed(error: Error): void;
  close(): void;
};

export type StepEvent = "shared_tier_up" | "shared_tier_lost" | "shared_tier_error";

export type InStepSettings = {
  isListening: () => boolean;
  /** Asks Redis for the epoch. */
  ask: () => Promise<string | undefined>;
  /** What was not sent yet. */
  flush: () => Promise<void>;
  /** Makes what is kept good again, before it is trusted. */
  recover: (isFirst: boolean) => Promise<void>;
  /** New connections. */
  renew: () => void;
  onEvent: (event: StepEvent, about: Record<string, unknown>) => void;
};

/** Milliseconds between two beats. */
const BEAT = 300;
/** Milliseconds without trust until the connections are made anew. */
const PATIENCE = 3000;

export const openInStep = ({ isListening, ask, flush, recover, renew, onEvent }: InStepSettings): InStep => {
  const lease = openLease(() => performance.now());
  let state: "new" | "up" | "lost" = "new";
  let isClosed = false;
  let renewedAt = performance.now();
  let isBusy = false;
  /** An answer to what was asked before the last of them says nothing of what came after. */
  let losses = 0;

  const errors = new Set<string>();
  /** Each is told once until something changes, not at every attempt. */
  const failed = ({ message }: Error) => {
    if (isClosed || errors.has(message)) return;
    errors.add(message);
    onEvent("shared_tier_error", { why: message });
  };
  const forget = () => {
    lease.lose();
    losses++;
  };
  const again = () => {
    forget();
    renewedAt = performance.now();
    renew();
  };
  const lose = (why: string) => {
    forget();
    if (isClosed || state !== "up") return;
    state = "lost";
    errors.clear();
    onEvent("shared_tier_lost", { why });
    // What has failed once is not listened to again.
    again();
  };
  const trusted = () => state === "up" && lease.isHeld() && isListening();

  const beat = async (): Promise<void> => {
    const sentAt = performance.now();
    const before = losses;
    if (!isListening()) return;
    const epoch = await ask();
    if (losses !== before) return;
    if (!lease.beat(sentAt, epoch)) return lose("a beat came late, or a drop was missed");
    if (state === "up") return flush();
    await recover(state === "new");
    await flush();
    // Lost again meanwhile, all of this is done anew.
    if (isClosed || losses !== before) return;
    state = "up";
    errors.clear();
    onEvent("shared_tier_up", {});
  };

  const tick = async (): Promise<void> => {
    if (isClosed) return;
    if (state === "up" && !lease.isHeld()) lose("it did not answer in time");
    if (!trusted() && performance.now() - renewedAt > PATIENCE) again();
    if (isBusy) return;
    isBusy = true;
    const before = losses;
    try {
      await beat();
    } catch (error) {
      // That it was cut off is told already.
      if (losses === before) failed(error as Error);
    } finally {
      isBusy = false;
    }
  };
  const timer = setInterval(() => void tick(), BEAT);
  timer.unref();

  return {
    trusted,
    epoch: () => lease.epoch(),
    heard: (epoch) => lease.heard(epoch),
    lose,
    beat: () => void tick(),
    failed,
    close() {
      isClosed = true;
      clearInterval(timer);
    },
  };
};
