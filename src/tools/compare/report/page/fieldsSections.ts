import type { FieldReport } from "../../../../compare/report.ts";
import { formatPath } from "../../../../compare/results.ts";
import { truncate } from "../../../../scrub/truncate.ts";
import { html, type Html } from "../../../../ui/html.ts";
import { section } from "../../../../ui/section.ts";
import { counted, formatNumber } from "../../../../ui/wording.ts";

const variantOrder = ["none", "null", "empty", "one", "many", "text", "number", "boolean", "object", "list"];

/** The variants of each field that this corpus has shown: a matrix for each endpoint. */
export const coverageSection = (coverage: readonly FieldReport[]): Html => {
  const never = coverage.reduce((sum, field) => sum + field.never.length, 0);
  return section({
    id: "coverage",
    title: "Coverage",
    count: coverage.length,
    about: `How often each field came in each variant. ${never === 0 ? "Every known variant was seen." : `${counted(never, "variant")} never came, so that nothing is known of them.`}`,
    content: Object.entries(Object.groupBy(coverage, ({ endpoint }) => endpoint)).map(([endpoint, fields = []]) =>
      ofEndpoint(endpoint, fields),
    ),
  });
};

const ofEndpoint = (endpoint: string, fields: readonly FieldReport[]): Html => {
  const seen = new Set(fields.flatMap((field) => Object.keys(field.seen)));
  const variants = [
    ...variantOrder.filter((one) => seen.has(one)),
    ...[...seen].filter((one) => !variantOrder.includes(one)),
  ];
  const never = fields.reduce((sum, field) => sum + field.never.length, 0);
  return html`<details class="coverage" data-endpoint="${endpoint}">
    <summary>
      <span class="question">${endpoint}</span>
      <span class="where">${counted(fields.length, "field")} · ${counted(never, "variant")} never seen</span>
    </summary>
    <div class="scroll" tabindex="0" role="region" aria-label="Coverage of ${endpoint}">
      <table class="matrix">
        <thead>
          <tr>
            <th scope="col">field</th>
            ${variants.map((variant) => html`<th scope="col">${variant}</th>`)}
            <th scope="col" class="words">never seen</th>
            <th scope="col" class="words">declared</th>
          </tr>
        </thead>
        <tbody>
          ${fields.map((field) => fieldRow(field, variants))}
        </tbody>
      </table>
    </div>
  </details>`;
};

const fieldRow = ({ path, rules, declared, seen, never }: FieldReport, variants: readonly string[]): Html =>
  html`<tr>
    <th scope="row"><code>${formatPath(path)}</code> <span class="rules">${rules.join(" + ")}</span></th>
    ${variants.map((variant) => (seen[variant] ? html`<td class="seen">${formatNumber(seen[variant])}</td>` : html`<td></td>`))}
    <td class="words ${never.length > 0 ? "never" : ""}">${never.join(", ")}</td>
    <td class="words quiet">${declared.join(", ")}</td>
  </tr>`;

/** Legacy fields that no rule reads, and types that no rule expects. */
export const schemaDriftSection = (fields: readonly FieldReport[]): Html =>
  section({
    id: "schema-drift",
    title: "Schema drift",
    count: fields.length,
    about:
      "Legacy fields that no rule reads, and fields that came in a type their rules do not turn into a declared one.",
    content:
      fields.length === 0
        ? html`<p class="none">Every legacy field is read, in a type that is declared.</p>`
        : html`<ul class="drifts">
            ${fields.map(item)}
          </ul>`,
  });

const item = ({ endpoint, legacyPath, rules, declared, seen, examples }: FieldReport): Html => {
  const types = Object.entries(seen).map(([type, count]) => `${type} ${formatNumber(count)}×`);
  const shown = examples.map((example, i) => html`${i > 0 ? ", " : ""}<code>${truncate(example, 200)}</code>`);
  return html`<li>
    <h3><code>${legacyPath}</code></h3>
    <p class="what">${rules.length === 0 ? "no rule reads it" : html`read by <code>${rules.join(" + ")}</code>`}</p>
    <p class="where">${endpoint}</p>
    <dl class="values">
      <div>
        <dt>Seen</dt>
        <dd>${types.join(", ")}</dd>
      </div>
      <div>
        <dt>Declared</dt>
        <dd>${declared.length === 0 ? html`<span class="absent">nothing</span>` : declared.join(", ")}</dd>
      </div>
      <div>
        <dt>Examples</dt>
        <dd>${examples.length === 0 ? html`<span class="absent">none</span>` : shown}</dd>
      </div>
    </dl>
  </li>`;
};
