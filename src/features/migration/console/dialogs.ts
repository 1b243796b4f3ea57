import { html, type Html } from "../../../ui/html.ts";
import { type StageName, stageNames } from "../stage.ts";

/** For each stage: what it does, what its share means, and what a move to it will do. The script reads these texts from the dialog. */
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
          return html`<label class="choice" data-share="${share}" data-will="${will}"
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
      <p class="field">
        <label for="move-why">Why</label>
        <input id="move-why" name="why" required maxlength="500" placeholder="no unexplained difference for a week" />
      </p>
      <p class="field">
        <label for="move-by">Your name</label>
        <input id="move-by" name="by" required maxlength="100" autocomplete="name" />
      </p>
      <p class="will" aria-live="polite" data-part="will"></p>
      <p class="failed-to" role="alert" data-part="error"></p>
      <p class="ends">
        <button type="button" data-close>Cancel</button>
        <button type="submit" class="main" data-part="confirm">Confirm</button>
      </p>
    </form>
  </dialog>`;

const forms = ["status", "missing", "extra", "type", "value", "order", "moved"];

/** Adds an entry to the ledger for one difference. The script opens and fills it. */
export const expectDialog = (): Html =>
  html`<dialog id="expect" aria-labelledby="expect-title">
    <form method="dialog" autocomplete="off">
      <h2 id="expect-title">Make it expected</h2>
      <p class="where">
        An entry of the ledger allows this difference until its date; it no longer counts against modern.
      </p>
      <div class="pair">
        <p class="field">
          <label for="expect-endpoint">Endpoint</label>
          <select id="expect-endpoint" name="endpoint">
            <option value=""></option>
            <option value="*">every endpoint</option>
          </select>
        </p>
        <p class="field">
          <label for="expect-kind">Form</label>
          <select id="expect-kind" name="kind">
            ${forms.map((form) => html`<option value="${form}">${form}</option>`)}
            <option value="*">any form</option>
          </select>
        </p>
      </div>
      <p class="field">
        <label for="expect-path">Path</label>
        <input id="expect-path" name="path" spellcheck="false" aria-describedby="expect-path-about" />
        <span id="expect-path-about" class="where"
          ><code>/**</code> stands for everything below; empty is the whole answer.</span
        >
      </p>
      <p class="field">
        <label for="expect-reason">Reason</label>
        <textarea id="expect-reason" name="reason" rows="2" required maxlength="1000"></textarea>
      </p>
      <div class="pair">
        <p class="field">
          <label for="expect-owner">Owner</label>
          <input id="expect-owner" name="owner" required maxlength="100" autocomplete="name" />
        </p>
        <p class="field">
          <label for="expect-until">Until, the last day it holds</label>
          <input id="expect-until" name="until" type="date" required />
        </p>
      </div>
      <p class="field">
        <label for="expect-link">Link <span class="quiet">(optional)</span></label>
        <input id="expect-link" name="link" type="url" maxlength="500" placeholder="https://issues.example/123" />
      </p>
      <p class="will" aria-live="polite" data-part="will"></p>
      <p class="failed-to" role="alert" data-part="error"></p>
      <p class="ends">
        <button type="button" data-close>Cancel</button>
        <button type="submit" class="main">Write the entry</button>
      </p>
    </form>
  </dialog>`;
