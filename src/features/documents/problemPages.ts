import { answerOf } from "../../catalogue/endpoint/answer.ts";
import { otherProblem, problemOf, problemTypes, type ProblemType } from "../../gateway/http/problemDetails.ts";
import { STATUS_CODES } from "../../gateway/http/nodeHttp.ts";
import { type ErrorTable, outcomeOf } from "../../catalogue/legacy/reading.ts";
import { documentFrame, readAsset, sharedStyle } from "../../libraries/ui/documentFrame.ts";
import { html, type Html } from "../../libraries/ui/html.ts";
import { pageHeaders, type Resource } from "./resource.ts";

/** What the pages are made of. `base`: the prefix, "" for "/". `link`: the value of their `Link`. */
type ProblemPages = { base: string; errors: ErrorTable; link: string };

const types: (ProblemType & { status?: number })[] = [
  ...Object.entries(problemTypes).map(([status, one]) => ({ ...one, status: Number(status) })),
  otherProblem,
];

const openFrame = () =>
  documentFrame(
    `${sharedStyle()}\n${readAsset(new URL("problems.css", import.meta.url))}`,
    [],
    ["frame-ancestors 'none'"],
  );

/** `a \`b\` c`, with `b` as code. */
const withCode = (text: string): Html[] =>
  text.split("`").map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));

/** Makes the page of all types of problems (`slug` undefined), or of one. */
export const openProblemPages = ({ base, errors, link }: ProblemPages) => {
  const frame = openFrame();
  const resource = (title: string, body: Html): Resource => ({
    body: String(frame.render({ title, body })),
    type: "text/html; charset=utf-8",
    headers: pageHeaders(frame.policy, link),
  });
  const links = html`<nav class="around">
    <a href="${base}/docs">Reference</a> <a href="${base}/problems/">All errors</a>
  </nav>`;
  return {
    list: (): Resource =>
      resource(
        "Errors of this interface",
        html`${links}
          <main>
            <h1>Errors of this interface</h1>
            <p class="lead">
              ${withCode(
                'Every error is JSON: `{"detail": ...}`, or a problem of RFC 9457 where `Accept` prefers `application/problem+json`.',
              )}
            </p>
            <ul class="problems">
              ${types.map(
                ({ slug, title, about, status }) =>
                  html`<li>
                    <span class="status">${status ?? "other"}</span>
                    <a href="${base}/problems/${slug}">${title}</a>
                    <p>${withCode(about)}</p>
                  </li>`,
              )}
            </ul>
          </main>`,
      ),
    page(slug: string): Resource {
      const type = types.find((one) => one.slug === slug) ?? otherProblem;
      const { title, about, status }: ProblemType & { status?: number } = type;
      return resource(
        `${title}${status === undefined ? "" : ` (${status})`}`,
        html`${links}
          <main>
            ${status === undefined ? "" : html`<p class="status">${status} ${STATUS_CODES[status] ?? ""}</p>`}
            <h1>${title}</h1>
            <p class="lead">${withCode(about)}</p>
            ${status === undefined ? "" : example(base, status, title)} ${codesOf(errors, status)}
          </main>`,
      );
    },
  };
};

const example = (base: string, status: number, title: string): Html => {
  const body = { detail: `${title}.` };
  const write = (value: unknown) => JSON.stringify(value, null, 2);
  return html`<h2>How it looks</h2>
    <h3><code>application/json</code></h3>
    <pre>${write(body)}</pre>
    <h3><code>application/problem+json</code></h3>
    <pre>${write(problemOf(status, body, base))}</pre>`;
};

/** The legacy codes that come with a status, with their messages. */
const codesOf = (errors: ErrorTable, status: number | undefined): Html | "" => {
  const outcomes = [...errors.values()].map(({ code, message }) => outcomeOf({ is: "error", code, message }, errors));
  const shown = new Map(
    outcomes.flatMap((one) =>
      one.code !== undefined && answerOf(one).status === status ? [[one.code, one.message]] : [],
    ),
  );
  if (shown.size === 0) return "";
  return html`<h2>Codes</h2>
    <p class="lead">
      The <code>code</code> of the answer is that of the legacy interface. These come with this status:
    </p>
    <dl class="codes">
      ${[...shown].map(
        ([code, message]) =>
          html`<div>
            <dt>${code}</dt>
            <dd>${message}</dd>
          </div>`,
      )}
    </dl>`;
};
