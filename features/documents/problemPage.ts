import { answerOf, type ErrorTable, type Outcome, outcomeOf } from "../../src/catalogue/index.ts";
import { problemOf, problemTypes } from "../../src/gateway/index.ts";
import { documentFrame, readStyle, sharedStyle } from "../../libraries/ui/documentFrame.ts";
import { html, type Html } from "../../libraries/ui/html.ts";
import { counted } from "../../libraries/ui/wording.ts";
import { pageHeaders, type Resource } from "./resource.ts";

/** The parts of the page. `base`: the prefix, "" for "/". `link`: the value of its `Link`. */
type ProblemPageParts = { base: string; errors: ErrorTable; link: string };

const title = "Errors of this interface";

/**
 * Makes the page that explains every type of problem. The anchor of each is its slug, as the
 * `type` of a problem has it.
 */
export const problemPage = ({ base, errors, link }: ProblemPageParts): Resource => {
  const style = `${sharedStyle()}\n${readStyle(new URL("problems.css", import.meta.url))}`;
  const frame = documentFrame(style, [], ["frame-ancestors 'none'"]);
  const codes = codesByStatus(errors);
  const body = html`<nav class="around"><a href="${base}/docs">Reference</a></nav>
    <main>
      <h1>${title}</h1>
      <p class="lead">
        ${withCode('Every error is JSON: `{"detail": ...}`, or a problem (RFC 9457) where `Accept` prefers that.')}
      </p>
      ${example(base)}
      ${Object.entries(problemTypes).map(([status, type]) => section(type, status, codes.get(Number(status))))}
    </main>`;
  return {
    body: String(frame.render({ title, body })),
    type: "text/html; charset=utf-8",
    headers: pageHeaders(frame.policy, link),
  };
};

/** The outcomes of legacy's errors, by the status that answers them. */
const codesByStatus = (errors: ErrorTable): Map<number, Outcome[]> =>
  Map.groupBy(
    [...errors.values()].map(({ code, message }) => outcomeOf({ is: "error", code, message }, errors)),
    (outcome) => answerOf(outcome).status,
  );

const section = (
  { slug, title: name, about }: Record<"slug" | "title" | "about", string>,
  status: string,
  outcomes: Outcome[] = [],
): Html => {
  // Several errors of legacy may be shown as a single error.
  const messages = new Map(outcomes.flatMap(({ code, message }) => (code === undefined ? [] : [[code, message]])));
  return html`<section id="${slug}">
    <h2><span class="status">${status}</span> ${withCode(name)}</h2>
    <p class="lead">${withCode(about)}</p>
    ${messages.size === 0 ? "" : codeList(messages)}
  </section>`;
};

const codeList = (messages: ReadonlyMap<string, string>): Html =>
  html`<details>
    <summary>${counted(messages.size, "code")} of the legacy interface</summary>
    <dl class="codes">
      ${[...messages].map(
        ([code, message]) =>
          html`<div>
            <dt>${code}</dt>
            <dd>${message}</dd>
          </div>`,
      )}
    </dl>
  </details>`;

/** An error in both formats. */
const example = (base: string): Html => {
  const body = { detail: { code: "111", message: "Unknown dataset" } };
  const write = (value: unknown) => JSON.stringify(value, null, 2);
  return html`<h2><code>application/json</code></h2>
    <pre>${write(body)}</pre>
    <h2><code>application/problem+json</code></h2>
    <pre>${write(problemOf(404, body, base))}</pre>`;
};

/** `a \`b\` c`, with `b` as code. */
const withCode = (text: string): Html[] =>
  text.split("`").map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
