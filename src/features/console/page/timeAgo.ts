import { minute } from "../../../ui/wording.ts";
import { html, type Html } from "../../../ui/html.ts";

const steps = [
  [86_400, "d"],
  [3600, "h"],
  [60, "min"],
] as const;

/** 12 minutes -> `12 min`; what is no time stays as it is. */
const span = (iso: string, now: Date): string => {
  const seconds = (now.getTime() - Date.parse(iso)) / 1000;
  if (Number.isNaN(seconds)) return iso;
  const [length, unit] = steps.find(([one]) => seconds >= one) ?? [];
  return length === undefined ? "a moment" : `${Math.floor(seconds / length)} ${unit}`;
};

/** How long it has been, with the time itself to be read on demand. */
export const timeAgo = (iso: string, now: Date): Html =>
  html`<time datetime="${iso}" title="${minute(iso)}">${span(iso, now)}</time>`;

export const timeAt = (iso: string): Html => html`<time datetime="${iso}">${minute(iso)}</time>`;
