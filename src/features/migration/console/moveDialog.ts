import { html, type Html } from "../../../ui/html.ts";
import { type StageName, stageNames, stageText } from "../stage.ts";

/** What a move to each stage does. */
const effects: Record<StageName, string> = {
  legacy: "Legacy will answer every caller; modern will not be asked.",
  shadow: "Legacy will answer every caller; {share} % of the requests will be mirrored to modern and compared.",
  canary: "Modern will answer {share} % of the callers, legacy the others.",
  modern: "Modern will answer every caller; {share} % of the requests will be mirrored to legacy and compared.",
};

/** Moves one endpoint, or all at once, and says before what will happen. The script opens and fills it; a disabled fieldset is not shown. */
export const moveDialog = (): Html =>
  html`<dialog id="move" aria-labelledby="move-title">
    <form method="dialog" autocomplete="off">
      <h2 id="move-title" data-part="title"></h2>
      <p class="where" data-part="now"></p>
      <fieldset name="to">
        <p>
          <label for="move-stage">Stage</label>
          <select id="move-stage" name="stage">
            ${stageNames.map(
              (stage) =>
                html`<option
                  value="${stage}"
                  data-will="${effects[stage]}"
                  data-text="${stageText({ stage, share: "{share}" })}"
                >
                  ${stage}
                </option>`,
            )}
          </select>
        </p>
        <p>
          <label for="move-share">Share in percent</label>
          <input id="move-share" name="share" type="number" min="0" max="100" step="1" required inputmode="numeric" />
        </p>
      </fieldset>
      <p class="will" aria-live="polite" data-part="will"></p>
      <p>
        <label for="move-why">Why</label>
        <input id="move-why" name="why" required maxlength="500" />
      </p>
      <p>
        <label for="move-by">Your name</label>
        <input id="move-by" name="by" required maxlength="100" autocomplete="name" />
      </p>
      <p class="trouble" role="alert" data-part="error"></p>
      <fieldset name="against" disabled>
        <p>
          <label for="move-despite">Why all the same</label>
          <input id="move-despite" name="despite" required maxlength="500" />
        </p>
      </fieldset>
      <p class="ends">
        <button type="button" data-close>Cancel</button>
        <button type="submit" class="main" data-part="confirm">Confirm</button>
      </p>
    </form>
  </dialog>`;
