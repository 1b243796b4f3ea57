import { html, type Html } from "../../../ui/html.ts";
import { type StageName, stageNames, stageText } from "../stage.ts";

/** For each stage: what it does, how it is named, what its share means, and what a move to it will do. The script reads these texts from the dialog. */
const stageMeanings: Record<StageName, { does: string; share: string; will: string }> = {
  legacy: {
    does: "Legacy answers alone; modern is not asked.",
    share: "",
    will: "Every caller of {endpoint} will be answered by legacy; modern will not be asked.",
  },
  shadow: {
    does: "Legacy answers; modern is asked the same and compared.",
    share: "of the requests are mirrored to modern and compared",
    will: "Every caller of {endpoint} will be answered by legacy; {share} % of the requests will be mirrored to modern and compared.",
  },
  canary: {
    does: "Modern answers a share of the callers, legacy the others.",
    share: "of the callers are answered by modern",
    will: "{share} % of the callers of {endpoint} will be answered by modern, the others by legacy.",
  },
  modern: {
    does: "Modern answers; legacy is asked the same and compared.",
    share: "of the requests are mirrored to legacy and compared",
    will: "Every caller of {endpoint} will be answered by modern; {share} % of the requests will be mirrored to legacy and compared.",
  },
};

/** Moves an endpoint to a stage, after showing what will happen. The script opens and fills it. */
export const moveDialog = (): Html =>
  html`<dialog id="move" aria-labelledby="move-title">
    <form method="dialog" autocomplete="off">
      <h2 id="move-title">Move <span data-part="endpoint"></span></h2>
      <p class="where">Now: <span data-part="now"></span></p>
      <fieldset class="choices">
        <legend>Stage</legend>
        ${stageNames.map((stage) => {
          const { does, share, will } = stageMeanings[stage];
          return html`<label
            class="choice"
            data-share="${share}"
            data-will="${will}"
            data-text="${stageText({ stage, share: "{share}" })}"
            ><input type="radio" name="stage" value="${stage}" required /><span
              ><strong>${stage}</strong> <span class="quiet">${does}</span></span
            ></label
          >`;
        })}
      </fieldset>
      <div class="share" data-part="share-row">
        <label for="move-range">Share</label>
        <input id="move-range" name="range" type="range" min="0" max="100" step="1" aria-describedby="move-meaning" />
        <span class="number"
          ><input
            name="share"
            type="number"
            min="0"
            max="100"
            step="1"
            required
            inputmode="numeric"
            aria-label="Share in percent"
            aria-describedby="move-meaning"
          />
          %</span
        >
        <p id="move-meaning" class="where" data-part="meaning"></p>
      </div>
      ${whoAndWhy("move", "no unexplained difference for a week")} ${despiteField("move")}
      <p class="will" aria-live="polite" data-part="will"></p>
      ${dialogEnd("Confirm")}
    </form>
  </dialog>`;

/** Who, and why: what every action asks for. `example`: a reason, shown while the field is empty. */
const whoAndWhy = (id: string, example: string): Html =>
  html`<p class="field">
      <label for="${id}-why">Why</label>
      <input id="${id}-why" name="why" required maxlength="500" placeholder="${example}" />
    </p>
    <p class="field">
      <label for="${id}-by">Your name</label>
      <input id="${id}-by" name="by" required maxlength="100" autocomplete="name" />
    </p>`;

/** The error of a dialog, and its buttons. */
const dialogEnd = (confirm: string): Html =>
  html`<p class="failed-to" role="alert" data-part="error"></p>
    <p class="ends">
      <button type="button" data-close>Cancel</button>
      <button type="submit" class="main" data-part="confirm">${confirm}</button>
    </p>`;

/** What speaks against a step towards modern, and the reason to make it all the same. The script shows it where something does. */
const despiteField = (id: string): Html =>
  html`<div class="against" data-part="against" hidden>
    <ul class="objections" data-part="objections"></ul>
    <p class="field">
      <label for="${id}-despite">Why all the same</label>
      <input id="${id}-despite" name="despite" required maxlength="500" placeholder="mended in build 214" />
    </p>
  </div>`;

/** Moves every endpoint to legacy, or undoes that, after a confirmation. The script opens and fills it. */
export const allDialog = (): Html =>
  html`<dialog id="all" aria-labelledby="all-title">
    <form method="dialog" autocomplete="off">
      <h2 id="all-title" data-part="title"></h2>
      <p class="will" data-part="will"></p>
      <ul class="where" data-part="moves"></ul>
      ${whoAndWhy("all", "modern answers wrongly")} ${despiteField("all")} ${dialogEnd("Confirm")}
    </form>
  </dialog>`;
