import type { Hono } from "hono";
import type { Html } from "./html.ts";

/** The additions of the core or a feature to the operators' interface and page; every member is optional. */
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
  /** Its styles and its script, which are written into the page. */
  style?: string;
  script?: string;
  /** Dialogs, which stand outside of the refreshed regions. */
  dialogs?: Html;
  /**
   * Its present content. Called for each rendering of the page; `query` is that of the page's address: hostile input.
   * `address`: where the new interface is served.
   */
  show: (now: Date, query: URLSearchParams, address: string) => PageContent;
};

/** The content of one part at one time. */
type PageContent = {
  sections: readonly PageSection[];
  /** Facts about all traffic: a few words each. */
  facts?: readonly Html[];
  /** Mistakes in the deployment, each in one or two sentences: they stand behind the troubles. */
  notices?: readonly Html[];
  troubles?: readonly PageTrouble[];
  /** Where dependencies are, by their names. */
  urls?: Readonly<Record<string, string>>;
  /** Remedies for callers while a dependency fails, by its name: a link or a button. */
  remedies?: Readonly<Record<string, Html>>;
  /** The sentence that the page shows if there is no trouble. That of the last part counts. */
  calm?: Html | undefined;
  /** When many clients got errors last (ISO 8601). */
  failedUntil?: string | undefined;
};

/**
 * A trouble that needs an operator, in one line: what it is, since when or when last (ISO 8601), its effect on callers,
 * its cause, and what to press (a link or a button). `name`: its name in the markup, `data-trouble`. `count`: the
 * troubles that it stands for. `harm`: harm other than errors, as a part of the headline: `up to 50 % of the callers of
 * getDataset may get wrong answers`.
 */
export type PageTrouble = {
  name: string;
  count?: number;
  what: string | Html;
  harm?: string;
  since?: string;
  last?: string | undefined;
  effect: string | Html;
  why?: string;
  press: Html;
};

/** One section of the page. */
export type PageSection = {
  /** Its place among the sections, in ascending order. */
  order: number;
  id: string;
  title: string;
  /** The number of its entries, if that is useful: in the table of contents, and beside the title. */
  count?: number;
  /** It has nothing to show, and is folded. */
  isEmpty?: boolean;
  /** One line about what it shows. */
  about: string;
  content: Html;
};
