import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const css = readFileSync(new URL("../../../src/libraries/ui/style.css", import.meta.url), "utf8");
const pairs = [...css.matchAll(/--([\w-]+): light-dark\((#[\da-f]{6}), (#[\da-f]{6})\)/g)];
const colours = new Map(pairs.map(([, name, light, dark]) => [name as string, [light, dark] as [string, string]]));

/** Relative luminance, WCAG 2.2. */
const luminance = (hex: string): number => {
  const [r, g, b] = [1, 3, 5]
    .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};

const contrast = (one: string, other: string): number => {
  const [dark, light] = [luminance(one), luminance(other)].toSorted((a, b) => a - b) as [number, number];
  return (light + 0.05) / (dark + 0.05);
};

const kinds = ["explained", "expected", "drift", "unexplained"];
const grounds = ["ground", "surface"];

const texts = [
  ...["ink", "quiet", "accent", ...kinds].flatMap((text) => grounds.map((ground) => [text, ground])),
  ["ground", "accent"],
] as [string, string][];

test.each(texts)("text in %s on %s is readable in both themes (AA: 4.5)", (text, ground) => {
  for (const theme of [0, 1] as const) {
    const [one, other] = [colours.get(text)?.[theme], colours.get(ground)?.[theme]] as [string, string];
    expect(contrast(one, other)).toBeGreaterThanOrEqual(4.5);
  }
});

test.each(grounds)("the edges of controls stand out on %s (AA: 3)", (ground) => {
  for (const theme of [0, 1] as const)
    expect(contrast(colours.get("edge")?.[theme] as string, colours.get(ground)?.[theme] as string)).toBeGreaterThan(3);
});
