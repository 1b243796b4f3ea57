import { CURVE_MINUTES } from "../../../src/operation/index.ts";
import type { PageSection } from "../../../libraries/ui/consolePart.ts";
import { html, type Html } from "../../../libraries/ui/html.ts";
import { RECENT, rowsTable, timeAgo, timeAt } from "../../../libraries/ui/parts.ts";
import { counted, duration, formatNumber, percent, rate } from "../../../libraries/ui/wording.ts";
import { nextStep } from "../gate.ts";
import { isForward, type Move, stageText } from "../stage.ts";
import { RECENT_ANSWERS } from "../track.ts";
import type { Latency, Parity, StagesView, StageView } from "../views.ts";

/**
 * Why an endpoint needs an operator, the most urgent reason first; empty if it does not. In legacy,
 * differences harm no caller.
 */
const troublesOf = ({ stage, parity: { unexplained }, gateSays = "", isGateFailing }: StageView): string[] => {
  const troubles: string[] = [];
  const differ = unexplained === 1 ? "differs" : "differ";
  if (unexplained > 0 && stage !== "legacy")
    troubles.push(`${counted(unexplained, "request")} ${differ}, and nothing explains it`);
  if (isGateFailing === true) troubles.push(`its gate fails: ${gateSays.replace(/^\w+: /, "")}`);
  return troubles;
};

type NamedView = { endpoint: string; view: StageView; troubles: readonly string[] };

/**
 * The endpoints that need an operator, those with the most unexplained answers first; then others that are moved; then
 * those in legacy, by use.
 */
export const sortByTrouble = (stages: StagesView): Record<"troubled" | "moved" | "inLegacy", NamedView[]> => {
  const all = Object.entries(stages).map(([endpoint, view]) => ({ endpoint, view, troubles: troublesOf(view) }));
  const troubled = all.filter(({ troubles }) => troubles.length > 0);
  const others = all.filter(({ troubles }) => troubles.length === 0);
  return {
    troubled: troubled.toSorted((a, b) => b.view.parity.unexplained - a.view.parity.unexplained),
    moved: others.filter(({ view }) => view.stage !== "legacy"),
    inLegacy: others.filter(({ view }) => view.stage === "legacy").toSorted((a, b) => b.view.rate - a.view.rate),
  };
};

/**
 * The move that brought everything back to legacy; `undefined` while an endpoint is elsewhere,
 * or if none was ever moved.
 */
export const returnToLegacy = (stages: StagesView, audit: readonly Move[]): Move | undefined =>
  Object.values(stages).every(({ stage }) => stage === "legacy")
    ? audit.find(({ from }) => from.stage !== "legacy")
    : undefined;

/** What the section shows beside the endpoints. */
type WholeMigration = {
  isShared: boolean;
  /** Nothing was ever moved. */
  isNew: boolean;
  returned: Move | undefined;
  /** What a beginner does first; empty where requests have come. */
  hint: Html;
};

/** Every endpoint: those that need an operator, those that are being moved, and folded those in legacy. */
export const stagesSection = (
  stages: StagesView,
  { isShared, isNew, returned, hint }: WholeMigration,
  now: Date,
): PageSection => {
  const { troubled, moved, inLegacy } = sortByTrouble(stages);
  const shown = [...troubled, ...moved];
  const isMoved = shown.length > 0;
  const ofWhom = isShared ? " Compared requests are those of all gateways, traffic and times of this one." : "";
  return {
    order: 10,
    id: "stages",
    title: "Stages",
    count: Object.keys(stages).length,
    about: `Who answers each endpoint. Those that need somebody come first. Traffic is that of the ${RECENT}, times are those of the last ${RECENT_ANSWERS} answers of each side.${ofWhom}`,
    content: html`${isNew && !isMoved ? beginning(hint) : ""} ${returned ? sinceWhen(returned) : ""}
    ${allButtons(stages, isMoved)} ${isMoved ? stagesTable(shown, now) : ""} ${legacyTable(inLegacy, isMoved, now)}`,
  };
};

/** The endpoints in legacy: folded, unless they are all that there is. */
const legacyTable = (inLegacy: readonly NamedView[], isFolded: boolean, now: Date): Html =>
  inLegacy.length === 0
    ? html``
    : html`<details class="in-legacy" data-key="in-legacy" ${isFolded ? "" : html`open`}>
        <summary>${counted(inLegacy.length, "endpoint")} in legacy</summary>
        ${stagesTable(inLegacy, now)}
      </details>`;

const sinceWhen = ({ at, by, why }: Move): Html =>
  html`<p>Legacy has answered everything since ${timeAt(at)}, by ${by}: ${why}</p>`;

/** What moves all endpoints at once: back to legacy, the reads towards modern, and back from there. */
const allButtons = (stages: StagesView, isMoved: boolean): Html =>
  html`<p class="all-buttons scripted">${isMoved ? legacyButton() : ""} ${formerButton(stages)} ${readsButton()}</p>`;

/** Opens the dialog with a choice of stages. */
const readsButton = (): Html =>
  html`<button
    type="button"
    data-all="reads"
    data-stage="shadow"
    data-share="100"
    data-will="This holds for every endpoint that only reads. Those that are further stay, and so do those that the evidence speaks against."
    aria-haspopup="dialog"
  >
    Move all reads
  </button>`;

const legacyButton = (): Html =>
  allButton({
    stage: "legacy",
    title: "Everything back to legacy",
    will: "Legacy will answer all callers, and modern will get none of their requests.",
    objections: [],
  });

const formerButton = (stages: StagesView): Html => {
  const former = Object.entries(stages).flatMap(([endpoint, view]) =>
    view.former === undefined ? [] : [{ endpoint, view, to: view.former }],
  );
  const [first] = former;
  if (first === undefined) return html``;
  const undone = first.view.stage === "legacy" ? "Everything back to legacy" : `All reads to ${stageText(first.view)}`;
  const moves = former.map(({ endpoint, to }) => `${endpoint}: ${stageText(to)}`);
  const opposed = former.filter(({ view, to }) => view.against !== undefined && isForward(view, to));
  return allButton({
    stage: "former",
    title: `Undo “${undone}”`,
    will: ["These endpoints will be where they were before:", ...moves].join("\n"),
    objections: opposed.map(({ endpoint, view }) => `${endpoint}: ${view.against}`),
  });
};

type AllButton = { stage: "legacy" | "former"; title: string; will: string; objections: readonly string[] };

/** A button that opens the dialog for all endpoints. `objections`: what was compared that speaks against it. */
const allButton = ({ stage, title, will, objections }: AllButton): Html =>
  html`<button
    type="button"
    data-all="${stage}"
    data-will="${will}"
    data-against="${objections.map((one) => `\n${one}`).join("")}"
    aria-haspopup="dialog"
  >
    ${title}
  </button>`;

/** What to do where nothing has been moved yet. */
const beginning = (hint: Html): Html =>
  html`<p class="about">
    ${hint} Move one endpoint that is read often to <strong>shadow</strong>, or all that read: legacy goes on answering,
    and modern is compared. What differs is listed below.
  </p>`;

const stagesTable = (views: readonly NamedView[], now: Date): Html =>
  rowsTable({
    rows: views,
    heads: [
      "endpoint",
      "stage",
      `traffic, ${RECENT}; curve: ${CURVE_MINUTES / 60} h`,
      `hits, ${RECENT}`,
      `p50 / p95, last ${RECENT_ANSWERS}`,
      "parity",
      html`<span class="unseen">actions</span>`,
    ],
    none: "None.",
    route: "/stages",
    row: (view) => row(view, now),
  });

const row = ({ endpoint, view, troubles }: NamedView, now: Date): Html =>
  html`<tr
    id="stage-${endpoint}"
    data-stage="${view.stage}"
    data-share="${view.share}"
    data-evidence="${evidenceOf(view)}"
    data-against="${view.against ?? ""}"
  >
    <th scope="row">
      ${endpoint} ${troubles.map((trouble) => html`<span class="where trouble">? ${trouble}</span>`)}
      <span class="where">for ${timeAgo(view.since, now)}, by ${view.by}${view.why === "" ? "" : `: ${view.why}`}</span>
    </th>
    <td>${stageMark(view)}${gateNote(view)}</td>
    <td class="traffic">${rate(view.rate)} /s${sparkline(view.spark)}${serverErrors(view)}</td>
    <td class="hits"><span class="short-label">hits </span>${percent(view.hitRatio ?? Number.NaN)}</td>
    <td class="latency">${latencyCell(view)}</td>
    <td class="parity">${parityCell(endpoint, view)}</td>
    <td class="move scripted">${moveButton(endpoint, view)}</td>
  </tr>`;

/** What the gate says, unless it stands among the troubles. */
const gateNote = ({ gateSays, isGateFailing }: StageView): Html =>
  gateSays === undefined || isGateFailing === true ? html`` : html`<span class="where">${gateSays}</span>`;

const serverErrors = ({ serverErrors: count }: StageView): Html =>
  count === 0 ? html`` : html`<span class="where trouble">${formatNumber(count)} with a 5xx</span>`;

const latencyCell = (view: StageView): Html =>
  html`${side("legacy", view.latency.legacy)}${view.stage === "legacy" ? "" : side("modern", view.latency.modern)}${modernFailures(view)}`;

/** The share of failures that is no trouble without a gate. */
const MAX_ERROR_RATE = 0.01;

const modernFailures = ({ errorRate, gate }: StageView): Html => {
  if (errorRate === 0) return html``;
  const mark = errorRate > (gate?.errorRate ?? MAX_ERROR_RATE) ? "trouble" : "";
  return html`<span class="where ${mark}">${percent(errorRate)} of modern failed</span>`;
};

/** What was compared, as a sentence; empty where the objection to a step towards modern says it. */
const evidenceOf = ({ against, parity: { compared, drift, lower } }: StageView): string =>
  against === undefined
    ? `No difference is unexplained in ${counted(compared - drift, "compared request")}: parity 100 %, at least ${percent(lower)}.`
    : "";

/** Opens the dialog at the next step on the way to modern. */
const moveButton = (endpoint: string, view: StageView): Html => {
  const { stage, share } = nextStep(view) ?? view;
  return html`<button
    type="button"
    data-move="${endpoint}"
    data-stage="${stage}"
    data-share="${share}"
    aria-haspopup="dialog"
  >
    Move<span class="unseen"> ${endpoint}</span>
  </button>`;
};

const side = (name: string, latency: Latency): Html =>
  html`<span class="where"
    >${name} ${latency === undefined ? "–" : html`${duration(latency.p50)} / ${duration(latency.p95)}`}</span
  >`;

const parityCell = (endpoint: string, { stage, parity: found }: StageView): Html => {
  const conclusive = found.compared - found.drift;
  if (conclusive === 0) return stage === "legacy" ? html`` : html`<span class="quiet">nothing compared</span>`;
  return html`<strong>${percent(1 - found.unexplained / conclusive)}</strong>
    <span class="quiet">≥ ${percent(found.lower)}</span>
    <span class="where"
      >${counted(found.compared, "request")} compared${expectedNote(found)}${unexplainedNote(endpoint, found)}</span
    >`;
};

const expectedNote = ({ expected, compared }: Parity): Html =>
  expected === 0 ? html`` : html` · <a href="#ledger">${percent(expected / compared)} expected</a>`;

const unexplainedNote = (endpoint: string, { unexplained }: Parity): Html =>
  unexplained === 0
    ? html``
    : html` ·
        <a href="#endpoint=${endpoint}&amp;kind=unexplained" class="unexplained"
          >${formatNumber(unexplained)} unexplained</a
        >`;

const stageMark = ({ stage, share }: StageView): Html =>
  html`<span class="stage ${stage}"><strong>${stage}</strong>${stageText({ stage, share }).slice(stage.length)}</span>`;

const LINE_WIDTH = 120;
const LINE_HEIGHT = 26;

/** Requests in each minute as a line, and in words; empty for fewer than two counts. */
const sparkline = (counts: readonly number[]): Html => {
  if (counts.length < 2) return html``;
  const most = Math.max(1, ...counts);
  const points = counts.map((count, i) => {
    const x = (LINE_WIDTH * i) / (counts.length - 1);
    return `${x.toFixed(1)},${(LINE_HEIGHT - 1 - ((LINE_HEIGHT - 3) * count) / most).toFixed(1)}`;
  });
  const label = `Requests in each of the last ${formatNumber(counts.length)} minutes: between ${formatNumber(Math.min(...counts))} and ${formatNumber(Math.max(...counts))}, lately ${formatNumber(counts.at(-1) ?? 0)}`;
  return html`<svg
    class="spark"
    viewBox="0 0 ${LINE_WIDTH} ${LINE_HEIGHT}"
    preserveAspectRatio="none"
    role="img"
    aria-label="${label}"
  >
    <polyline points="${points.join(" ")}"></polyline>
  </svg>`;
};
