import type { PageSection } from "../../../libraries/ui/consolePart.ts";
import { RECENT_TIMES } from "../../../src/operation/index.ts";
import { html, type Html } from "../../../libraries/ui/html.ts";
import { rowsTable, timeAgo, timeAt } from "../../../libraries/ui/parts.ts";
import { counted, duration, formatNumber, percent } from "../../../libraries/ui/wording.ts";
import { MAX_COMPARED } from "../comparedRequests.ts";
import { nextStep, type Parity } from "../gate.ts";
import { isForward, type Move, type Stage, type StageName, stageNames, stageText } from "../stage.ts";
import type { StagesView, StageView } from "../migration.ts";

/**
 * The reasons why an endpoint needs an operator, the most urgent first; empty if it does not. In legacy,
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

/** An endpoint, and the reasons why it needs an operator. */
export type NamedView = { endpoint: string; view: StageView; troubles: readonly string[] };

/**
 * The endpoints that need an operator, those that harm callers first, then by unexplained answers; then others that are
 * moved; then those in legacy, by use.
 */
export const sortByTrouble = (stages: StagesView): Record<"troubled" | "moved" | "inLegacy", NamedView[]> => {
  const all = Object.entries(stages).map(([endpoint, view]) => ({ endpoint, view, troubles: troublesOf(view) }));
  const troubled = all.filter(({ troubles }) => troubles.length > 0);
  const others = all.filter(({ troubles }) => troubles.length === 0);
  const urgency = ({ view }: NamedView) => view.parity.unexplained + (view.wrongSince === undefined ? 0 : MAX_COMPARED);
  return {
    troubled: troubled.toSorted((a, b) => urgency(b) - urgency(a)),
    moved: others.filter(({ view }) => view.stage !== "legacy"),
    inLegacy: others.filter(({ view }) => view.stage === "legacy").toSorted((a, b) => b.view.rate - a.view.rate),
  };
};

/**
 * The move that brought everything back to legacy; `undefined` while an endpoint is elsewhere,
 * or if no endpoint was ever moved.
 */
export const returnToLegacy = (stages: StagesView, audit: readonly Move[]): Move | undefined =>
  Object.values(stages).every(({ stage }) => stage === "legacy")
    ? audit.find(({ from }) => from.stage !== "legacy")
    : undefined;

/** Facts that the section shows beside the endpoints. `isNew`: no endpoint was ever moved. */
type WholeMigration = { isShared: boolean; isNew: boolean; returned: Move | undefined };

/** All endpoints: first those that need an operator, then the others, folded by stage. */
export const stagesSection = (
  stages: StagesView,
  { isShared, isNew, returned }: WholeMigration,
  now: Date,
): PageSection => {
  const { troubled, moved, inLegacy } = sortByTrouble(stages);
  const isMoved = troubled.length + moved.length > 0;
  const calm = [...moved, ...inLegacy];
  const ofWhom = isShared ? " of all gateways" : "";
  return {
    order: 10,
    id: "stages",
    title: "Stages",
    about: `Who answers each endpoint. Compared are distinct requests${ofWhom}; the p95 is that of the last ${RECENT_TIMES} answers of each side.`,
    content: html`${isNew && !isMoved ? beginning() : ""} ${returned ? sinceWhen(returned) : ""}
    ${allButtons(stages, isMoved)} ${troubled.length > 0 ? stagesTable(troubled, now) : ""}
    ${stageNames.map((stage) =>
      foldedStage(
        stage,
        calm.filter(({ view }) => view.stage === stage),
        now,
      ),
    )}`,
  };
};

/** The endpoints of a stage that need nothing from an operator. */
const foldedStage = (stage: StageName, calm: readonly NamedView[], now: Date): Html =>
  calm.length === 0
    ? html``
    : html`<details class="in-stage" data-key="in-${stage}">
        <summary>
          ${counted(calm.length, "endpoint")} in ${stage}${stage === "legacy" ? "" : ", nothing unexplained"}
        </summary>
        ${stagesTable(calm, now)}
      </details>`;

const sinceWhen = ({ at, by, why }: Move): Html =>
  html`<p>Legacy has answered everything since ${timeAt(at)}, by ${by}: ${why}</p>`;

/** The buttons that move all endpoints at once: back to legacy, the reads towards modern, and back from there. */
const allButtons = (stages: StagesView, isMoved: boolean): Html =>
  html`<p class="all-buttons scripted">
    ${isMoved ? legacyButton(stages) : ""} ${formerButton(stages)}
    ${allButton({
      all: "reads",
      title: "Move all reads",
      will: "This holds for every endpoint that only reads. Those that are further stay, and so do those that the evidence speaks against.",
    })}
  </p>`;

/** The button that moves every endpoint back to legacy, and first says from which stage. */
export const legacyButton = (stages: StagesView): Html => {
  const moved = Object.entries(stages).filter(([, { stage }]) => stage !== "legacy");
  const moves = moved.map(([endpoint, from]) => `${endpoint}: ${stageText(from)}`);
  const will = ["Legacy will answer all callers of these endpoints, and modern will get no request:", ...moves];
  return allButton({ all: "legacy", title: "Everything back to legacy", will: will.join("\n") });
};

const formerButton = (stages: StagesView): Html => {
  const first = Object.values(stages).find(({ former }) => former !== undefined);
  if (first === undefined) return html``;
  const undone = first.stage === "legacy" ? "Everything back to legacy" : `All reads to ${stageText(first)}`;
  return returnButton(stages, "former", `Undo “${undone}”`);
};

/** The button that sets the stages again that Redis has lost. */
export const lostButton = (stages: StagesView): Html => returnButton(stages, "lost", "Set them again");

const returnButton = (stages: StagesView, all: "former" | "lost", title: string): Html => {
  const returning = Object.entries(stages).flatMap(([endpoint, view]) => {
    const { [all]: to } = view;
    return to === undefined ? [] : [{ endpoint, view, to }];
  });
  const moves = returning.map(({ endpoint, to }) => `${endpoint}: ${stageText(to)}`);
  const opposed = returning.filter(({ view, to }) => view.against !== undefined && isForward(view, to));
  const against = opposed.map(({ endpoint, view }) => `\n${endpoint}: ${view.against}`).join("");
  const will = ["These endpoints will be where they were before:", ...moves].join("\n");
  return allButton({ all, title, will, against });
};

type AllButton = { all: "legacy" | "former" | "lost" | "reads"; title: string; will: string; against?: string };

/**
 * A button that opens the dialog for all endpoints; for reads, with a choice of stages. `against`: the evidence against
 * it, a line for each endpoint.
 */
const allButton = ({ all, title, will, against = "" }: AllButton): Html =>
  html`<button
    type="button"
    data-all="${all}"
    data-will="${will}"
    data-against="${against}"
    aria-haspopup="dialog"
    ${all === "reads" ? html`data-stage="shadow" data-share="100"` : ""}
  >
    ${title}
  </button>`;

/** Says what to do while no endpoint has been moved yet. */
const beginning = (): Html =>
  html`<p class="about" data-hint="first-move">
    Move one endpoint that is read often to <strong>shadow</strong>, or all that read: legacy goes on answering, and
    modern is compared. What differs is listed below.
  </p>`;

const stagesTable = (views: readonly NamedView[], now: Date): Html =>
  rowsTable({
    rows: views,
    heads: ["endpoint", "answered by", "compared", "p95", html`<span class="unseen">actions</span>`],
    none: "None.",
    route: "/stages",
    row: (view) => row(view, now),
  });

const row = ({ endpoint, view, troubles }: NamedView, now: Date): Html =>
  html`<tr
    id="stage-${endpoint}"
    data-stage="${view.stage}"
    data-share="${view.share}"
    data-compared="${view.parity.compared}"
    data-unexplained="${view.parity.unexplained}"
    data-evidence="${evidenceOf(view)}"
    data-against="${view.against ?? ""}"
    data-held="${view.oldClientsHeld ?? ""}"
    ${view.lost === undefined ? "" : html`data-lost`}
  >
    <th scope="row">${endpoint}</th>
    <td class="stage-cell">${stageMark(view)}${sinceNote(view, now)}${gateNote(view, troubles)}</td>
    <td class="parity">${parityCell(endpoint, view)}${oldClientsNote(endpoint, view)}</td>
    <td class="latency">${latencyCell(view)}${modernFailures(view)}</td>
    <td class="move scripted">${moveButton(endpoint, nextStep(view) ?? view, "Move")}</td>
  </tr>`;

/** The reasons of a stage whose endpoint was never moved. */
const unmoved: ReadonlySet<string> = new Set(["as configured", "default"]);

/** The time since an endpoint's last move, and who moved it; empty if it was never moved. */
const sinceNote = ({ since, by, why }: StageView, now: Date): Html =>
  unmoved.has(why)
    ? html``
    : html` <span class="where">for ${timeAgo(since, now)}, by ${by}${why === "" ? "" : `: ${why}`}</span>`;

/** The gate's reason, or the trouble that the links beside it do not show. */
const gateNote = ({ gateSays, isGateFailing }: StageView, troubles: readonly string[]): Html => {
  if (gateSays === undefined) return html``;
  return isGateFailing === true
    ? html` <span class="where trouble">${troubles.at(-1) ?? ""}</span>`
    : html` <span class="where">${gateSays}</span>`;
};

const latencyCell = ({ stage, latency: { legacy, modern } }: StageView): Html =>
  html`${p95Of(stage === "legacy" ? "" : "legacy ", legacy)}${stage === "legacy" ? "" : html` <span class="quiet">·</span> ${p95Of("modern ", modern)}`}`;

const p95Of = (name: string, latency: StageView["latency"]["legacy"]): Html =>
  html`<span class="quiet">${name}</span>${latency === undefined ? "–" : duration(latency.p95)}`;

/** The share of failures that is no trouble without a gate. */
const MAX_ERROR_RATE = 0.01;

const modernFailures = ({ errorRate, gate }: StageView): Html => {
  if (errorRate === 0) return html``;
  const mark = errorRate > (gate?.errorRate ?? MAX_ERROR_RATE) ? "trouble" : "";
  return html` <span class="where ${mark}">${percent(errorRate)} of modern failed</span>`;
};

/** The evidence as a sentence; empty if the objection to a step towards modern says it. */
const evidenceOf = ({ against, parity: { compared, drift, lower } }: StageView): string =>
  against === undefined
    ? `No difference is unexplained in ${counted(compared - drift, "compared request")}: a parity of ${percent(lower)} is proven.`
    : "";

/** Opens the dialog at a stage. */
const moveButton = (endpoint: string, { stage, share }: Stage, title: string): Html =>
  html`<button type="button" data-move="${endpoint}" data-stage="${stage}" data-share="${share}" aria-haspopup="dialog">
    ${title}<span class="unseen"> ${endpoint}</span>
  </button>`;

/** The button that moves to the stage in which modern answers no caller, and both sides are compared. */
export const shadowButton = (endpoint: string): Html =>
  moveButton(endpoint, { stage: "shadow", share: 100 }, "Back to shadow");

const parityCell = (endpoint: string, { stage, parity: found }: StageView): Html => {
  const conclusive = found.compared - found.drift;
  if (conclusive === 0) return stage === "legacy" ? html`` : html`<span class="quiet">nothing</span>`;
  return html`<strong>${percent(1 - found.unexplained / conclusive)}</strong>
    <span class="quiet">≥ ${percent(found.lower)} of ${formatNumber(found.compared)}</span
    >${expectedNote(found)}${unexplainedNote(endpoint, found)}`;
};

/** The evidence on old clients, and who answers them while modern has callers. */
const oldClientsNote = (endpoint: string, { oldClients, oldClientsHeld }: StageView): Html => {
  if (oldClients === undefined) return html``;
  const { compared, equal, expected, unexplained, isMoved } = oldClients;
  const losses = `${formatNumber(expected)} named ${expected === 1 ? "loss" : "losses"}`;
  const others = unexplained === 0 ? "0 others" : unexplainedLink(endpoint, counted(unexplained, "other"));
  const counts = compared === 0 ? "nothing compared" : html`${formatNumber(equal)} same, ${losses}, ${others}`;
  const answered = isMoved ? "; they follow" : oldClientsHeld === undefined ? "" : "; legacy answers them";
  return html`<div class="where">old clients: ${counts}${answered}</div>`;
};

const expectedNote = ({ expected, compared }: Parity): Html =>
  expected === 0 ? html`` : html` · <a href="#ledger">${percent(expected / compared)} expected</a>`;

const unexplainedNote = (endpoint: string, { unexplained }: Parity): Html =>
  unexplained === 0 ? html`` : html` · ${unexplainedLink(endpoint, `${formatNumber(unexplained)} unexplained`)}`;

const unexplainedLink = (endpoint: string, text: string): Html =>
  html`<a href="#endpoint=${endpoint}&amp;kind=unexplained" class="unexplained">${text}</a>`;

const stageMark = ({ stage, share }: StageView): Html =>
  html`<span class="stage ${stage}"><strong>${stage}</strong>${stageText({ stage, share }).slice(stage.length)}</span>`;
