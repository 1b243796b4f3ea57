import { html, type Html } from "../../../../ui/html.ts";

/**
 * Content that the script lays out only when it is wanted: with a script a `<noscript>` is mere text, without one it is content.
 * What is inside is escaped, and so holds no tag that could end it.
 */
export const deferred = (content: Html): Html => html`<noscript>${content}</noscript>`;
