import { type Stage, stageNames } from "../../migration/stage.ts";
import { html, type Html } from "../../../ui/html.ts";

/** How far an endpoint has come: its stage in words, and as so many of four steps. */
export const stageMark = ({ stage, share }: Pick<Stage, "stage" | "share">): Html => {
  const at = stageNames.indexOf(stage);
  return html`<span class="stage ${stage}"
    ><svg class="steps" viewBox="0 0 52 8" aria-hidden="true">
      ${stageNames.map(
        (_, i) =>
          html`<rect
            class="${i <= at ? "reached" : "ahead"}"
            x="${i * 13 + 1}"
            y="1"
            width="11"
            height="6"
            rx="2"
          ></rect>`,
      )}
    </svg>
    <strong>${stage}</strong>${stage === "legacy" ? "" : html` <span class="share">${share} %</span>`}</span
  >`;
};

/** `canary 5 %` */
export const stageText = ({ stage, share }: Pick<Stage, "stage" | "share">): string =>
  stage === "legacy" ? stage : `${stage} ${share} %`;
