/** `"90s"`, `"10m"`, `"24h"`, `"7d"` */
export type Duration = `${number}${"s" | "m" | "h" | "d"}`;

const units = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export const isDuration = (text: string): text is Duration => /^\d{1,6}[smhd]$/.test(text);

/** `"10m"` -> 600000 */
export const milliseconds = (duration: Duration): number =>
  Number(duration.slice(0, -1)) * units[duration.slice(-1) as keyof typeof units];
