import { z } from "zod";

const instants = z.iso.datetime({ offset: true });
const dates = z.iso.date();

/** `2026-01-01T09:00:00Z`, or with an offset. */
export const isInstant = (text: unknown): text is string => instants.safeParse(text).success;

/** The same, or a date, which means its midnight in UTC. */
export const isDateOrInstant = (text: unknown): text is string => isInstant(text) || dates.safeParse(text).success;
