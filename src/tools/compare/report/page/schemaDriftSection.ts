import type { FieldReport } from "../../../../compare/report.ts";
import { truncate, formatNumber } from "../../../../ui/wording.ts";
import { html, type Html } from "../../../../ui/html.ts";
import { section } from "../../../../ui/section.ts";

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
