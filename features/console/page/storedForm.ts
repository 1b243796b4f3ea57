import { html, type Html } from "../../../libraries/ui/html.ts";
import { timeAgo, valuesList } from "../../../libraries/ui/parts.ts";
import { bytes, counted, timeOfDay } from "../../../libraries/ui/wording.ts";
import type { StoredAnswer } from "../storedAnswer.ts";
import { MAX_ADDRESS, type StoredView } from "../storedView.ts";

/** Looks up the answers stored for an address, and purges them. Without a script, `?stored=` in the page's URL asks. */
export const storedForm = (stored: StoredView | undefined, now: Date): Html =>
  html`<form class="filters" role="search" autocomplete="off">
      <p class="scripted">
        <label for="find-stored">What is stored for the address</label>
        <input
          id="find-stored"
          name="stored"
          type="search"
          maxlength="${MAX_ADDRESS}"
          value="${stored?.url ?? ""}"
          placeholder="/v1/datasets/61"
          spellcheck="false"
          data-search
          data-path
        />
      </p>
    </form>
    <div id="stored" aria-live="polite">${stored === undefined ? "" : found(stored, now)}</div>`;

const found = ({ url, answers }: StoredView, now: Date): Html => {
  if (answers === undefined)
    return html`<p class="none"><code>${url}</code> is the address of no read that the cache may answer.</p>`;
  if (answers.length === 0)
    return html`<p class="none">Nothing is stored for <code>${url}</code>: legacy is asked.</p>`;
  return html`${answers.map((answer) => storedItem(answer, now))}
    <p class="scripted"><button type="button" data-purge>Take it out</button></p>`;
};

const uses: Record<StoredAnswer["freshness"], string> = {
  fresh: "It is served as it is",
  stale: "It is served, and fetched again meanwhile",
  ifError: "It is served only if legacy fails",
  not: "It is not served any more",
};

const storedItem = (answer: StoredAnswer, now: Date): Html => {
  const { endpoint, status, bytes: size, groups, freshness, since, freshUntil, until, why, failures, retryAt } = answer;
  const isFailed = failures > 0 && retryAt !== undefined;
  return html`<p data-freshness="${freshness}" data-failures="${failures}">
      <strong>${endpoint}, ${status}</strong>, ${bytes(size)}. ${uses[freshness]}${why === undefined ? "" : `: ${why}`}.
    </p>
    ${valuesList([
      ["fetched", html`${timeAgo(since, now)} ago`],
      ["fresh until", timeOfDay(freshUntil, now)],
      ["gone at", timeOfDay(until, now)],
      [
        "refreshes since then",
        isFailed
          ? html`<span class="trouble">${counted(failures, "failure")}, again at ${timeOfDay(retryAt, now)}</span>`
          : "none failed",
      ],
      ["about", groups.join(", ")],
    ])}`;
};
