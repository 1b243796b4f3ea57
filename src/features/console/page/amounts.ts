import { formatNumber } from "../../../ui/wording.ts";

/** 0.9987 -> `99.8 %`: rounded down, so that what is not all never reads as all; nothing of nothing is `–`. */
export const percent = (share: number): string =>
  Number.isFinite(share) ? `${formatNumber(Math.floor(share * 1000 + 1e-9) / 10)} %` : "–";

/** 0.42 -> `0.42`, 12.41 -> `12.4`, 1204.2 -> `1,204` */
export const rate = (perSecond: number): string =>
  formatNumber(Number(perSecond.toFixed(perSecond < 1 ? 2 : perSecond < 100 ? 1 : 0)));

/** 96.2 -> `96 ms`, 1240 -> `1.2 s` */
export const duration = (milliseconds: number): string =>
  milliseconds < 1000
    ? `${formatNumber(Math.round(milliseconds))} ms`
    : `${formatNumber(Number((milliseconds / 1000).toFixed(milliseconds < 10_000 ? 1 : 0)))} s`;

/** 67108864 -> `64 MiB` */
export const bytes = (count: number): string => {
  const steps = ["bytes", "KiB", "MiB", "GiB"] as const;
  const step = count < 1024 ? 0 : Math.min(3, Math.floor(Math.log2(count) / 10));
  return `${formatNumber(Number((count / 1024 ** step).toFixed(step === 0 ? 0 : 1)))} ${steps[step]}`;
};
