import type { DifferenceSample } from "../../migration/views.ts";
import { truncate } from "../../../scrub/truncate.ts";
import { curlPair } from "../../../ui/curlPair.ts";
import { html, type Html } from "../../../ui/html.ts";
import { changedParts, type Part } from "./changedParts.ts";
import { timeAt } from "./timeAgo.ts";

/** Characters of one value. */
const MOST = 2000;

const sides = { legacy: "Legacy", expected: "Expected", candidate: "Modern" } as const;

type Side = keyof typeof sides;

/** One answer that shows the difference: the values of all sides beside each other, what changed marked, and how to ask for it again. */
export const sampleItem = (sample: DifferenceSample): Html => {
  const shown = shownSides(sample);
  return html`<li data-key="${sample.at} ${sample.question}">
    <p class="asked"><code>${sample.question}</code> <span class="where">${timeAt(sample.at)}</span></p>
    <dl class="values">
      ${(Object.keys(sides) as Side[]).map(
        (side) =>
          html`<div>
            <dt>${sides[side]}</dt>
            <dd>${shown[side] ?? html`<span class="absent">nothing</span>`}</dd>
          </div>`,
      )}
    </dl>
    ${curlPair(sample.curl)}
  </li>`;
};

/** What came is marked against what was expected; where these are the same, against what legacy said. */
const shownSides = (sample: DifferenceSample): Partial<Record<Side, Html>> => {
  const [legacy, expected, candidate] = (["legacy", "expected", "candidate"] as const).map((side) =>
    sample[side] === undefined ? undefined : truncate(JSON.stringify(sample[side], null, 2), MOST),
  );
  const isAsExpected = expected === candidate;
  const { left, right } = changedParts((isAsExpected ? legacy : expected) ?? "", candidate ?? "");
  return {
    ...(legacy === undefined ? {} : { legacy: isAsExpected ? marked(left, "del") : html`<code>${legacy}</code>` }),
    ...(expected === undefined
      ? {}
      : { expected: isAsExpected ? html`<code>${expected}</code>` : marked(left, "del") }),
    ...(candidate === undefined ? {} : { candidate: marked(right, "ins") }),
  };
};

const marked = (parts: readonly Part[], tag: "del" | "ins"): Html =>
  html`<code>${parts.map(({ text, changed }) => (changed ? inTag(tag, text) : text))}</code>`;

const inTag = (tag: "del" | "ins", text: string): Html =>
  tag === "del" ? html`<del>${text}</del>` : html`<ins>${text}</ins>`;
