import { CURVE_MINUTES } from "../../../operation/telemetry/traffic.ts";
import type { PageSection } from "../../../libraries/ui/consolePart.ts";
import { html, type Html } from "../../../libraries/ui/html.ts";
import { RECENT, rowsTable, timeAgo, timeAt } from "../../../libraries/ui/parts.ts";
import { counted, duration, formatNumber, percent, rate } from "../../../libraries/ui/wording.ts";
import { nextStep } from "../gate.ts";
import { isForward, type Move, stageText } from "../stage.ts";
import { RECENT_ANSWERS } from "../track.ts";
import { firstRequest } from "./endpointsSection.ts";
import type { Latency, StagesView, StageView } from "../views.ts";

/** Why an endpoint needs an operator, the most urgent reason first; empty if it does not. In legacy modern answers nobody. */
const troublesOf = ({ stage, parity, gateSays, isGateFailing }: StageView): string[] => [
  ...(parity.unexplained > 0 && stage !== "legacy"
    ? [
        `${counted(parity.unexplained, "request")} ${parity.unexplained === 1 ? "differs" : "differ"}, and nothing explains it`,
      ]
    : []),
  ...(isGateFailing === true ? [`its gate fails: ${gateSays?.replace(/^\w+: /, "") ?? ""}`] : []),
];

/** One endpoint with its name. */
type NamedView = { endpoint: string; view: StageView; troubles: readonly string[] };

/** The endpoints that need an operator, those with the most unexplained answers first; then others that are moved; then those in legacy, by use. */
export const sortByTrouble = (stages: StagesView): Record<"troubled" | "moved" | "inLegacy", NamedView[]> => {
  const all = Object.entries(stages).map(([endpoint, view]) => ({ endpoint, view, troubles: troublesOf(view) }));
  const {
    troubled = [],
    moved = [],
    inLegacy = [],
  } = Object.groupBy(all, ({ view, troubles }) =>
    troubles.length > 0 ? "troubled" : view.stage === "legacy" ? "inLegacy" : "moved",
  );
  return {
    troubled: troubled.toSorted((a, b) => b.view.parity.unexplained - a.view.parity.unexplained),
    moved,
    inLegacy: inLegacy.toSorted((a, b) => b.view.rate - a.view.rate),
  };
};

/** The move by which legacy has come to answer everything again; `undefined` while something else is moved, or nothing ever was. */
export const returnToLegacy = (stages: StagesView, audit: readonly Move[]): Move | undefined =>
  Object.values(stages).every(({ stage }) => stage === "legacy")
    ? audit.find(({ from }) => from.stage !== "legacy")
    : undefined;

type About = {
  isShared: boolean;
  /** Nothing was ever moved. */
  isNew: boolean;
  returned: Move | undefined;
  address: string;
};

/** Every endpoint: those that need an operator, those that are being moved, and folded those in legacy. */
export const stagesSection = (
  stages: StagesView,
  { isShared, isNew, returned, address }: About,
  now: Date,
): PageSection => {
  const { troubled, moved, inLegacy } = sortByTrouble(stages);
  const shown = [...troubled, ...moved];
  const isMoved = shown.length > 0;
  return {
    order: 10,
    id: "stages",
    title: "Stages",
    count: Object.keys(stages).length,
    about: `Who answers each endpoint. Those that need somebody come first. Traffic is that of the ${RECENT}, times are those of the last ${RECENT_ANSWERS} answers of each side.${isShared ? " Compared requests are those of all gateways, traffic and times of this one." : ""}`,
    content: html`${isMoved || !isNew ? "" : beginning(address)} ${returned === undefined ? "" : sinceWhen(returned)}
    ${allButtons(stages, isMoved)} ${isMoved ? stagesTable(shown, now) : ""}
    ${
      inLegacy.length === 0
        ? ""
        : html`<details class="in-legacy" data-key="in-legacy" ${isMoved ? "" : html`open`}>
            <summary>${counted(inLegacy.length, "endpoint")} in legacy</summary>
            ${stagesTable(inLegacy, now)}
          </details>`
    }`,
  };
};

const sinceWhen = ({ at, by, why }: Move): Html =>
  html`<p>Legacy has answered everything since ${timeAt(at)}, by ${by}: ${why}</p>`;

/** What moves all endpoints at once: back to legacy, and back from there. */
const allButtons = (stages: StagesView, isMoved: boolean): Html => {
  const former = Object.entries(stages).flatMap(([endpoint, view]) =>
    view.former === undefined ? [] : [{ endpoint, view, to: view.former }],
  );
  const against = former.flatMap(({ endpoint, view, to }) =>
    view.against !== undefined && isForward(view, to) ? `${endpoint}: ${view.against}` : [],
  );
  const button = (stage: "legacy" | "former", title: string, will: string, objections: readonly string[] = []): Html =>
    html`<button
      type="button"
      data-all="${stage}"
      data-will="${will}"
      data-against="${objections.map((one) => `\n${one}`).join("")}"
      aria-haspopup="dialog"
    >
      ${title}
    </button>`;
  return html`<p class="all-buttons scripted">
    ${
      isMoved
        ? button(
            "legacy",
            "Everything back to legacy",
            "Legacy will answer all callers, and modern will get no requests.",
          )
        : ""
    }
    ${
      former.length === 0
        ? ""
        : button(
            "former",
            "Undo “Everything back to legacy”",
            [
              "These endpoints will be where they were before:",
              ...former.map(({ endpoint, to }) => `${endpoint}: ${stageText(to)}`),
            ].join("\n"),
            against,
          )
    }
  </p>`;
};

/** What to do where nothing has been moved yet. */
const beginning = (address: string): Html =>
  html`<p class="about">
    ${firstRequest(address)} Move one endpoint that is read often to <strong>shadow</strong>: legacy goes on answering,
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
    row: (one) => row(one, now),
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
    <td>
      ${stageMark(view)}${
        view.gateSays === undefined || view.isGateFailing === true
          ? ""
          : html`<span class="where">${view.gateSays}</span>`
      }
    </td>
    <td class="traffic">
      ${rate(view.rate)}
      /s${sparkline(view.spark)}${
        view.serverErrors === 0
          ? ""
          : html`<span class="where trouble">${formatNumber(view.serverErrors)} with a 5xx</span>`
      }
    </td>
    <td class="hits"><span class="short-label">hits </span>${percent(view.hitRatio ?? Number.NaN)}</td>
    <td class="latency">
      ${side("legacy", view.latency.legacy)}${view.stage === "legacy" ? "" : side("modern", view.latency.modern)}${
        view.errorRate > 0
          ? html`<span class="where ${view.errorRate > (view.gate?.errorRate ?? 0.01) ? "trouble" : ""}"
              >${percent(view.errorRate)} of modern failed</span
            >`
          : ""
      }
    </td>
    <td class="parity">${parityCell(endpoint, view)}</td>
    <td class="move scripted">${moveButton(endpoint, view)}</td>
  </tr>`;

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
      >${counted(found.compared, "request")}
      compared${
        found.expected > 0 ? html` · <a href="#ledger">${percent(found.expected / found.compared)} expected</a>` : ""
      }${
        found.unexplained > 0
          ? html` ·
              <a href="#endpoint=${endpoint}&amp;kind=unexplained" class="unexplained"
                >${formatNumber(found.unexplained)} unexplained</a
              >`
          : ""
      }</span
    >`;
};

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
