/* A line over the charts of the history, and what they say there. The mouse moves it, and the slider under the charts with the keyboard. */
import { setText } from "../../../../ui/client/messages.js";

const slider = () => document.getElementById("history-at");

/** What the table says of one slot: the name of each column that has a value, and the value. */
const readingOf = (row) => {
  const heads = [...row.closest("table").querySelectorAll("thead th")].map((head) => head.textContent.trim());
  return [...row.children]
    .map((cell, i) => [heads[i], cell.textContent.trim(), i])
    .filter(([, text]) => text !== "" && text !== "–")
    .map(([head, text, i]) => (i === 0 ? text : `${head} ${text}`))
    .join(" · ");
};

/** Shows the slot that the slider is at. `isRead`: a screen reader reads it aloud. */
const showSlot = () => {
  const input = slider();
  if (!input) return;
  const rows = document.querySelectorAll("#history tbody tr");
  const at = Math.min(Number(input.value), rows.length - 1);
  // The table begins with the latest.
  const row = rows[rows.length - 1 - at];
  if (!row) return;
  const reading = readingOf(row);
  input.setAttribute("aria-valuetext", reading);
  setText(document.getElementById("history-reading"), reading);
  for (const line of document.querySelectorAll("#history .cursor")) {
    const { width } = line.ownerSVGElement.viewBox.baseVal;
    const x = String(((at + 0.5) * width) / rows.length);
    line.setAttribute("x1", x);
    line.setAttribute("x2", x);
  }
};

document.addEventListener("pointermove", ({ target, clientX }) => {
  const plot = target.closest?.("#history svg.plot");
  const input = slider();
  if (!plot || !input) return;
  const { left, width } = plot.getBoundingClientRect();
  input.value = String(Math.floor(((clientX - left) / width) * (Number(input.max) + 1)));
  showSlot();
});
document.addEventListener("input", ({ target }) => {
  if (target.id === "history-at") showSlot();
});
document.addEventListener("page:shown", showSlot);
