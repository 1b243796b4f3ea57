import { stageNames } from "../../migration/stage.ts";
import { html, type Html } from "../../../ui/html.ts";
import { stageMeanings } from "./stageMeanings.ts";

/** Where an endpoint is to go, for whom, why and by whom; says what will happen before it does. The script opens and fills it. */
export const moveDialog = (): Html =>
  html`<dialog id="move" aria-labelledby="move-title">
    <form method="dialog" autocomplete="off">
      <h2 id="move-title">Move <span data-told="endpoint"></span></h2>
      <p class="where">Now: <span data-told="now"></span></p>
      <fieldset class="choices">
        <legend>Stage</legend>
        ${stageNames.map((stage) => {
          const { does, share, will } = stageMeanings[stage];
          return html`<label class="choice" data-share="${share}" data-will="${will}"
            ><input type="radio" name="stage" value="${stage}" required /><span
              ><strong>${stage}</strong> <span class="quiet">${does}</span></span
            ></label
          >`;
        })}
      </fieldset>
      <div class="share" data-told="share-row">
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
        <p id="move-meaning" class="where" data-told="meaning"></p>
      </div>
      <p class="field">
        <label for="move-why">Why</label>
        <input id="move-why" name="why" required maxlength="500" placeholder="no unexplained difference for a week" />
      </p>
      <p class="field">
        <label for="move-by">Your name</label>
        <input id="move-by" name="by" required maxlength="100" autocomplete="name" />
      </p>
      <p class="will" aria-live="polite" data-told="will"></p>
      <p class="failed-to" role="alert" data-told="error"></p>
      <p class="ends">
        <button type="button" data-close>Cancel</button>
        <button type="submit" class="main" data-told="confirm">Confirm</button>
      </p>
    </form>
  </dialog>`;
