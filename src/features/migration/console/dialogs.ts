import { html, type Html } from "../../../ui/html.ts";
import { type StageName, gateSchema, stageNames, stageText } from "../stage.ts";

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

/** The fields of a gate: what each bounds, its unit, and what it allows. A share is shown in percent. */
const gateFields = [
  { name: "parity", label: "Parity at least", unit: "%", scale: 100, step: "any", max: 100 },
  { name: "requests", label: "Distinct requests at least", unit: "", scale: 1, step: 1, min: 1, max: 100_000 },
  { name: "minutes", label: "Minutes in a stage at least", unit: "min", scale: 1, step: "any", max: 100_000 },
  { name: "errorRate", label: "Failures of modern at most", unit: "%", scale: 100, step: "any", max: 100 },
  { name: "p95", label: "p95 of modern at most", unit: "ms", scale: 1, step: "any", min: 1, max: 3_600_000 },
  { name: "hold", label: "Wait after a demotion", unit: "min", scale: 1, step: "any", max: 100_000 },
] as const;

const gateStates = {
  acts: "It promotes and demotes this endpoint by itself.",
  paused: "It moves nothing. Its conditions stay.",
  none: "Only operators move this endpoint.",
} as const;

/** Pauses, changes or removes the gate of an endpoint. The script opens and fills it. */
export const gateDialog = (): Html =>
  html`<dialog id="gate" aria-labelledby="gate-title">
    <form method="dialog" autocomplete="off">
      <h2 id="gate-title">Gate of <span data-part="endpoint"></span></h2>
      <fieldset class="choices">
        <legend>State</legend>
        ${Object.entries(gateStates).map(
          ([state, does]) =>
            html`<label class="choice"
              ><input type="radio" name="state" value="${state}" required /><span
                ><strong>${state === "none" ? "no gate" : state}</strong> <span class="quiet">${does}</span></span
              ></label
            >`,
        )}
      </fieldset>
      <div class="pair" data-part="bounds" data-default="${JSON.stringify(gateSchema.parse({}))}">
        ${gateFields.map(
          ({ name, label, unit, scale, step, max, ...field }) =>
            html`<p class="field">
              <label for="gate-${name}">${label}${unit === "" ? "" : `, ${unit}`}</label>
              <input
                id="gate-${name}"
                name="${name}"
                type="number"
                inputmode="decimal"
                min="${"min" in field ? field.min : 0}"
                max="${max}"
                step="${step}"
                data-scale="${scale}"
                required
              />
            </p>`,
        )}
      </div>
      ${whoAndWhy("gate", "modern is deployed again")} ${dialogEnd("Set the gate")}
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
      ${dialogEnd("Write the entry")}
    </form>
  </dialog>`;
