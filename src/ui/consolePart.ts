import type { Hono } from "hono";
import type { Html } from "./html.ts";

/** A section of the operators' page: `count` stands beside its title in the table of contents. */
export type ConsoleSection = { id: string; title: string; count: number; html: Html };

/** What the core or a feature adds to the operators' interface and page; every member is optional. */
export type ConsolePart = {
  /** Adds its routes; the guard has let the request in. Bodies are bounded by the app. */
  routes?: (app: Hono) => void;
  /** Its sections, in the order of the page. Called for each rendering of the page. */
  sections?: (now: Date) => ConsoleSection[];
  /** Items of the overview at the top, and the most urgent one for the title of the document. */
  overview?(now: Date): { html: Html; headline?: string };
  /** Dialogs and the like, which stand outside of what is refreshed. */
  dialogs?: () => Html;
  /** Scripts and styles of its own, as texts that are written into the page. */
  scripts?: readonly string[];
  styles?: readonly string[];
  /** Members that it adds to the answer of `GET /cache`. */
  cacheView?: () => Record<string, unknown>;
};
