import type { Hono } from "hono";
import type { Html } from "./html.ts";

/** What the core or a feature adds to the operators' interface and page; every member is optional. */
export type ConsolePart = {
  /** Adds its routes. The guard has let the request in, and the app bounds the body. */
  routes?: (app: Hono) => void;
  /** Members that it adds to the answer of `GET /cache`. */
  cacheView?: () => Record<string, unknown>;
  /**
   * Loads its part of the page. Called once, at the page's first request, so that a start reads no
   * template, script or style.
   */
  page?: () => Promise<PagePart>;
};

/** One part of the operators' page, as it is loaded once. */
export type PagePart = {
  /** Styles and a script of its own, which are written into the page. */
  style?: string;
  script?: string;
  /** Dialogs, which stand outside of what is refreshed. */
  dialogs?: Html;
  /**
   * What it shows now. Called for each rendering of the page; `query` is that of the page's address: hostile input.
   * `address`: where the new interface is served.
   */
  show: (now: Date, query: URLSearchParams, address: string) => PageContent;
};

/** What one part shows at one time. */
type PageContent = {
  sections: readonly PageSection[];
  /** Numbers in the overview at the top. */
  numbers?: readonly OverviewNumber[];
  /** Mistakes in the deployment, one sentence or two each: they stand above everything else. */
  notices?: readonly Html[];
  headlines?: readonly Headline[];
};

/**
 * The most urgent fact in one line, and its reason below it. The page shows every trouble; without
 * one, the first headline.
 */
export type Headline = { heading: Html; why?: string; isTrouble?: boolean };

/** One section of the page. */
export type PageSection = {
  /** Its place among the sections, in ascending order. */
  order: number;
  id: string;
  title: string;
  /** The number of its entries: in the table of contents, and beside the title. */
  count: number;
  /** One line about what it shows. */
  about: string;
  content: Html;
};

/**
 * One number of the overview: its name with the time that it covers, and its place. `about`: a few words below
 * it. `isTrouble` marks it.
 */
export type OverviewNumber = { order: number; name: string; value: string; about?: string; isTrouble?: boolean };
