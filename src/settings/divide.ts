import { availableParallelism } from "node:os";
import type { Settings, SettingsFragment } from "./settings.ts";

/** Bounds of the core that hold for all workers together. */
const divided = [
  "MAX_CONNECTIONS",
  "MAX_WAITING",
  "MAX_CLIENT_CONNECTIONS",
  "MAX_SEND_BYTES",
  "MAX_REPLIES_BYTES",
  "READER_THREADS",
  "READER_QUEUE_BYTES",
  "CACHE_BYTES",
] as const;

/** Bounds of which every worker needs at least one. */
const leastOne = ["MAX_CONNECTIONS", "MAX_WAITING", "MAX_CLIENT_CONNECTIONS"] as const;

/** How many workers these settings ask for: with `auto` one for each core, and no more than the bounds that they share have room for. */
export const countWorkers = (settings: Settings): number =>
  settings.WORKERS === "auto"
    ? Math.max(
        1,
        Math.min(
          availableParallelism(),
          Math.floor(settings.MAX_REPLIES_BYTES / settings.MAX_REPLY_BYTES),
          ...leastOne.map((name) => settings[name]),
        ),
      )
    : settings.WORKERS;

/** What is wrong with bounds that the workers share: the name, what was given, what is allowed. */
export const divisionErrors = (settings: Settings): string[] => {
  const count = countWorkers(settings);
  if (count === 1) return [];
  const { MAX_REPLY_BYTES, MAX_REPLIES_BYTES } = settings;
  const needed = count * MAX_REPLY_BYTES;
  return [
    ...(MAX_REPLIES_BYTES >= needed
      ? []
      : [
          `MAX_REPLIES_BYTES: ${MAX_REPLIES_BYTES} given; allowed with ${count} WORKERS is at least ${count} times MAX_REPLY_BYTES (${needed}), so that one answer has room in each`,
        ]),
    ...leastOne.flatMap((name) =>
      settings[name] >= count
        ? []
        : [`${name}: ${settings[name]} given; allowed with ${count} WORKERS is at least ${count}, one for each`],
    ),
  ];
};

/** One worker's share; 0 stays 0, which switches off. */
const shareOf = (value: number, count: number): number => (value === 0 ? 0 : Math.max(1, Math.floor(value / count)));

/** The settings of one of so many workers: each gets its share of the bounds. */
export const divideSettings = (
  settings: Settings,
  fragments: readonly Pick<SettingsFragment, "divided" | "dividedRates">[],
  count: number,
): Settings => {
  const names = new Set<string>([...divided, ...fragments.flatMap((one) => one.divided?.(settings) ?? [])]);
  const rates = new Set(fragments.flatMap((one) => one.dividedRates?.(settings) ?? []));
  const share = (name: string, value: unknown): unknown => {
    if (typeof value !== "number") return value;
    if (rates.has(name)) return value / count;
    return names.has(name) ? shareOf(value, count) : value;
  };
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, share(name, value)])) as Settings;
};
