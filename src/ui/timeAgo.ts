import { html, type Html } from "./html.ts";
import { minute } from "./wording.ts";

const steps = [
  [86_400, "d"],
  [3600, "h"],
  [60, "min"],
] as const;

/** 12 minutes -> `12 min`; a text that is no time stays as it is. */
const span = (iso: string, now: Date): string => {
  const seconds = (now.getTime() - Date.parse(iso)) / 1000;
  if (Number.isNaN(seconds)) return iso;
  const [length, unit] = steps.find(([one]) => seconds >= one) ?? [];
  return length === undefined ? "a moment" : `${Math.floor(seconds / length)} ${unit}`;
};

/** How long ago an ISO 8601 time was, with the time itself as the title. */
export const timeAgo = (iso: string, now: Date): Html =>
  html`<time datetime="${iso}" title="${minute(iso)}">${span(iso, now)}</time>`;

/** An ISO 8601 time to the minute. */
export const timeAt = (iso: string): Html => html`<time datetime="${iso}">${minute(iso)}</time>`;
