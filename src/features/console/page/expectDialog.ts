import { html, type Html } from "../../../ui/html.ts";

const forms = ["status", "missing", "extra", "type", "value", "order", "moved"];

/** A new entry of the ledger, filled in from the difference it is to allow. The script opens and fills it. */
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
      <p class="will" aria-live="polite" data-told="will"></p>
      <p class="failed-to" role="alert" data-told="error"></p>
      <p class="ends">
        <button type="button" data-close>Cancel</button>
        <button type="submit" class="main">Write the entry</button>
      </p>
    </form>
  </dialog>`;
