import { counted } from "../../../ui/wording.ts";
import { formatPath } from "../../../compare/results.ts";
import type { DifferenceView } from "../../migration/views.ts";
import { UNSERVED } from "../../../compare/difference.ts";
import { html, type Html } from "../../../ui/html.ts";
import { sampleItem } from "./sampleItem.ts";

/** One form of difference at one path of one endpoint, folded; in it what was seen, and the way to allow it. */
export const differenceItem = (difference: DifferenceView): Html => {
  const { endpoint, path, kind, form, rule, entry, count, answers, samples } = difference;
  const key = JSON.stringify([endpoint, path, kind, form, rule, entry]);
  return html`<li
    class="difference"
    data-key="${key}"
    data-endpoint="${endpoint}"
    data-kind="${kind}"
    data-path="${path}"
  >
    <details data-key="fold">
      <summary>
        <span class="endpoint">${endpoint}</span> <code class="path">${formatPath(path)}</code>
        <span class="where"
          >${form}${madeBy(difference)} · ${counted(count, "field")} in ${counted(answers, "answer")}</span
        >
      </summary>
      ${
        samples.length === 0
          ? html`<p class="none">No sample was kept.</p>`
          : html`<ol class="samples">
              ${samples.map(sampleItem)}
            </ol>`
      }
      ${
        (kind === "unexplained" || kind === "drift") && path !== UNSERVED
          ? html`<p class="scripted">
              <button
                type="button"
                data-expect
                aria-haspopup="dialog"
                data-endpoint="${endpoint}"
                data-path="${path}"
                data-form="${form}"
              >
                Make it expected<span class="unseen">: ${form} at ${formatPath(path)} of ${endpoint}</span>
              </button>
            </p>`
          : ""
      }
    </details>
  </li>`;
};

const madeBy = ({ kind, rule, entry }: DifferenceView): Html =>
  html`${entry === undefined ? "" : html`, allowed by <code>${entry}</code>`}${
    rule === undefined ? "" : html`, ${kind === "explained" ? "by" : "where the rule is"} <code>${rule}</code>`
  }`;
