import type { NamedTraffic } from "../../src/operation/index.ts";

let english: Intl.NumberFormat | undefined;

/** 1204 -> `1,204` */
export const formatNumber = (value: number): string => {
  // It is made at the first use: it loads data of languages, which takes 15 ms and 7 MB.
  english ??= new Intl.NumberFormat("en");
  return english.format(value);
};

/** 1 -> `1 answer`, 1204 -> `1,204 answers` */
export const counted = (count: number, noun: string): string =>
  `${formatNumber(count)} ${noun}${count === 1 ? "" : "s"}`;

/** `a`, `b`, `c` -> `a, b and c`, as its parts. */
export const enumerate = <T>(parts: readonly T[]): (T | string)[] =>
  parts.flatMap((part, i) => (i === 0 ? [part] : [i === parts.length - 1 ? " and " : ", ", part]));

/** `2026-11-21T07:36:45.120Z` -> `2026-11-21 07:36 UTC`; another text stays as it is. */
export const minute = (iso: string): string => iso.replace(/^(.{10})T(\d\d:\d\d).*Z$/, "$1 $2 UTC");

/** `15:50 UTC`, with the day if that is not the day of `now`. */
export const timeOfDay = (iso: string, now: Date): string =>
  minute(iso).replace(`${now.toISOString().slice(0, 10)} `, "");

/** `17:24:02 UTC` */
export const secondOfDay = (iso: string): string => `${iso.slice(11, 19)} UTC`;

/** Milliseconds for which the page shows troubles that are over. */
export const REMEMBERED_MS = 3_600_000;

/** The most names in a list of failing requests. */
const MAX_FAILING = 3;

/** The requests that fail most: `writes of old clients 240 of 240, getDataset 64 of 410`. */
export const whatFails = (rows: readonly NamedTraffic[]): string => {
  const failing = rows.filter(({ errors }) => errors > 0).toSorted((a, b) => b.errors - a.errors);
  const named = failing
    .slice(0, MAX_FAILING)
    .map(({ name, errors, requests }) => `${nameInWords(name)} ${formatNumber(errors)} of ${formatNumber(requests)}`);
  const left = failing.length - named.length;
  return [...named, ...(left > 0 ? [`${formatNumber(left)} more`] : [])].join(", ");
};

/** The requests of this name, in words: `legacy getDataset` -> `getDataset of old clients` */
const nameInWords = (name: string): string => name.replace(/^legacy (.*)$/, "$1 of old clients");

/** 0.9987 -> `99.8 %`: rounded down, so that only all of it reads as 100 %; `–` for NaN and infinite shares. */
export const percent = (share: number): string =>
  Number.isFinite(share) ? `${formatNumber(Math.floor(share * 1000 + 1e-9) / 10)} %` : "–";

/** Per second: 0.42 -> `0.42`, 12.41 -> `12.4`, 1204.2 -> `1,204` */
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
