const english = new Intl.NumberFormat("en");

/** 1204 -> `1,204` */
export const formatNumber = (value: number): string => english.format(value);

/** 1 -> `1 answer`, 1204 -> `1,204 answers` */
export const counted = (count: number, noun: string): string =>
  `${formatNumber(count)} ${noun}${count === 1 ? "" : "s"}`;

/** `2026-11-21T07:36:45.120Z` -> `2026-11-21 07:36 UTC`; what is no such time stays as it is. */
export const minute = (iso: string): string => iso.replace(/^(.{10})T(\d\d:\d\d).*Z$/, "$1 $2 UTC");
