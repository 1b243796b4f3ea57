import type { Move } from "../../migration/stage.ts";
import { html, type Html } from "../../../ui/html.ts";
import { section } from "../../../ui/section.ts";
import { shownRows } from "./shownRows.ts";
import { stageText } from "./stageMark.ts";
import { timeAt } from "./timeAgo.ts";

/** Who moved what, when and why; the newest first. */
export const auditSection = (audit: readonly Move[]): Html =>
  section({
    id: "audit",
    title: "Audit log",
    count: audit.length,
    about: "Who moved what, when and why: operators, the configuration, and the gates by themselves.",
    content: shownRows({
      rows: audit,
      heads: ["when", "endpoint", "moved", "by", "why"],
      none: "Nothing has been moved yet.",
      route: "/audit",
      row: ({ at, endpoint, from, to, by, why }) =>
        html`<tr data-key="${at} ${endpoint}">
          <td class="quiet">${timeAt(at)}</td>
          <th scope="row">${endpoint}</th>
          <td>
            <span class="moved"
              >${stageText(from)} <span aria-hidden="true">→</span><span class="unseen">to</span>
              <strong>${stageText(to)}</strong></span
            >
          </td>
          <td><span class="short-label">by </span>${by}</td>
          <td class="long">${why}</td>
        </tr>`,
    }),
  });
