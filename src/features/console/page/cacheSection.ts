import type { PageSection } from "../../../ui/consolePart.ts";
import { html, type Html } from "../../../ui/html.ts";
import { fillBar } from "../../../ui/parts.ts";
import { bytes, formatNumber } from "../../../ui/wording.ts";
import type { CacheView } from "../consoleApp.ts";

/** The size of the cache against its bounds, and the lifetimes of its answers. */
export const cacheSection = (cache: CacheView): PageSection => ({
  order: 60,
  id: "cache",
  title: "Cache",
  count: cache.entries,
  about: "Answers kept in memory, and how long those of each endpoint hold.",
  content: html`<p>
      <strong>${bytes(cache.bytes)}</strong> of ${bytes(cache.bound.bytes)}
      ${fillBar(shareOf(cache), "of the room is taken")}
      <span class="where"
        >${formatNumber(cache.entries)} ${cache.entries === 1 ? "answer" : "answers"}, ${formatNumber(cache.evicted)}
        pushed out, of at most ${bytes(cache.bound.entryBytes)}
        each${cache.shared === undefined ? "" : `; the shared tier is ${cache.shared}`}</span
      >
    </p>
    ${windows(cache)}`,
});

const shareOf = ({ bytes: taken, bound }: CacheView): number => (bound.bytes === 0 ? 0 : taken / bound.bytes);

const windows = (cache: CacheView): Html =>
  html`<details class="windows" data-key="windows">
    <summary>How long answers hold</summary>
    <table>
      <thead>
        <tr>
          ${["endpoint", "fresh", "stale", "stale if error", "absent", "unready"].map((head) => html`<th scope="col">${head}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${Object.entries(cache.windows).map(
          ([endpoint, { fresh, stale, staleIfError, absent, unready }]) =>
            html`<tr data-key="${endpoint}">
              <th scope="row">${endpoint}</th>
              ${[fresh, stale, staleIfError, absent, unready].map((window) => html`<td>${window ?? "–"}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </details>`;
