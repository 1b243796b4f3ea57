import type { PagePart, PageTrouble } from "../../../libraries/ui/consolePart.ts";
import { joinModules, readStyle } from "../../../libraries/ui/documentFrame.ts";
import { html, type Html } from "../../../libraries/ui/html.ts";
import { counted, enumerate, REMEMBERED_MS, timeOfDay } from "../../../libraries/ui/wording.ts";
import { callersOf, type Move, type StageName, stageNames, stageText } from "../stage.ts";
import type { Migration, StagesView, StageView } from "../migration.ts";
import { liveDifferencesSection } from "./differencesSection.ts";
import { auditSection, ledgerSection } from "./recordSections.ts";
import { classifications } from "./routes.ts";
import {
  legacyButton,
  lostButton,
  type NamedView,
  returnToLegacy,
  shadowButton,
  sortByTrouble,
  stagesSection,
} from "./stagesSection.ts";

const fileUrl = (file: string): URL => new URL(file, import.meta.url);

const scripts = ["../../../libraries/ui/client/filter.js", "client/move.js"];

/** Stages, differences, the audit log and the ledger, with the dialogs that move endpoints. */
export const migrationPage = (migration: Migration, url?: string): PagePart => ({
  style: readStyle(fileUrl("migration.css")),
  script: joinModules(scripts.map(fileUrl)),
  dialogs: moveDialog(),
  show(now) {
    const { hasModern, isShared } = migration;
    const [stages, audit, expected] = [
      migration.view(),
      migration.stages.audit(),
      migration.comparisons.ledger.entries(),
    ];
    const differences = classifications.flatMap((kind) => migration.comparisons.view(kind));
    const returned = returnToLegacy(stages, audit);
    return {
      ...(url !== undefined && { urls: { modern: url } }),
      troubles: hasModern ? [...troublesOf(stages), ...takenBack(stages, now)] : [],
      calm: hasModern ? calmSentence(stages, returned, now) : undefined,
      remedies: {
        modern: html`<span class="scripted">${legacyButton(stages)}</span>`,
        stages: html`<span class="scripted">${lostButton(stages)}</span>`,
      },
      notices: Object.entries(stages).flatMap(([endpoint, view]) => oneBucketNotice(endpoint, view)),
      sections: [
        ...(hasModern
          ? [
              stagesSection(stages, { isShared, isNew: audit.length === 0, returned }, now),
              liveDifferencesSection(differences, Object.keys(stages)),
            ]
          : []),
        ...(hasModern || audit.length > 0 ? [auditSection(audit)] : []),
        ...(hasModern ? [ledgerSection(expected, now)] : []),
      ],
    };
  },
});

const oneBucketNotice = (endpoint: string, { oneBucket, share }: StageView): Html[] =>
  oneBucket === undefined
    ? []
    : [
        html`All ${counted(oneBucket, "request")} of the canary <strong>${endpoint}</strong> fall into one bucket, as if
          one caller had sent them: its share of ${share} % moves all callers or none. Behind a proxy, set
          <code>TRUSTED_PROXIES</code> to its address, and let it send <code>X-Forwarded-For</code>.`,
      ];

/** Endpoints that have a line of their own. */
const MAX_NAMED = 3;

/** The endpoints that need an operator, the most urgent first, with the effect on callers. */
const troublesOf = (stages: StagesView): PageTrouble[] => {
  const { troubled } = sortByTrouble(stages);
  const [named, others] = [troubled.slice(0, MAX_NAMED).map(troubleOf), troubled.slice(MAX_NAMED)];
  if (others.length === 0) return named;
  const what = `${counted(others.length, "more endpoint")} like this`;
  const effect = enumerate(others.map(({ endpoint }) => endpoint)).join("");
  return [
    ...named,
    { name: "others", count: others.length, what, effect, press: html`<a href="#stages">All stages</a>` },
  ];
};

/** The endpoints that gates took back in the last hour: to shadow, because modern fails or is wrong. */
const takenBack = (stages: StagesView, now: Date): PageTrouble[] => {
  const taken = Object.entries(stages).filter(
    ([, { stage, by, since }]) =>
      stage === "shadow" && by === "gate" && now.getTime() - Date.parse(since) < REMEMBERED_MS,
  );
  return [...Map.groupBy(taken, ([, { since }]) => timeOfDay(since, now))].map(([at, alike]) => ({
    name: "taken-back",
    what: `The gate took ${enumerate(alike.map(([endpoint]) => endpoint)).join("")} back to shadow at ${at}`,
    effect: "legacy answers all callers",
    why: [...new Set(alike.map(([, { why }]) => why))].join("; "),
    press: html`Nothing has to be pressed`,
  }));
};

/** An endpoint that needs an operator. If modern answers callers, an unexplained difference is a wrong answer. */
const troubleOf = ({ endpoint, view, troubles: [trouble = ""] }: NamedView): PageTrouble => {
  const share = Math.min(100, callersOf(view));
  const differs = html`<a href="#endpoint=${endpoint}&amp;kind=unexplained">What differs</a>`;
  if (view.wrongSince === undefined)
    return {
      name: `differs ${endpoint}`,
      what: html`${endpoint}: ${trouble}`,
      effect: share === 0 ? "no caller gets modern’s answer" : `${share} % of the callers get modern’s answer`,
      press: view.parity.unexplained > 0 ? differs : html`<a href="#stage-${endpoint}">The gate</a>`,
    };
  const harm = `${share} % of the callers of ${endpoint} may get wrong answers`;
  return {
    name: `wrong ${endpoint}`,
    what: `Up to ${harm}`,
    harm: `up to ${harm}`,
    since: view.wrongSince,
    effect: trouble,
    press: html`<span class="scripted">${shadowButton(endpoint)}</span> ${differs}`,
  };
};

const calmSentence = (stages: StagesView, returned: Move | undefined, now: Date): Html => {
  if (returned !== undefined)
    return html`Legacy has answered everything since ${timeOfDay(returned.at, now)}, by ${returned.by}: ${returned.why}`;
  const views = Object.values(stages);
  const moved = views.filter(({ stage }) => stage === "modern").length;
  return moved === views.length
    ? html`Modern answers everything`
    : html`Nothing unexplained; ${moved} of ${counted(views.length, "endpoint")} moved`;
};

/** The effect of a move to each stage. */
const effects: Record<StageName, string> = {
  legacy: "Legacy will answer every caller; modern will not be asked.",
  shadow: "Legacy will answer every caller; {share} % of the requests will be mirrored to modern and compared.",
  canary:
    "Modern will answer {share} % of the callers, legacy the others. Unless STAGES has a gate for it, 3 requests that differ without a reason take it back to shadow, or 2 minutes in which most of modern’s answers fail.",
  modern: "Modern will answer every caller; {share} % of the requests will be mirrored to legacy and compared.",
};

/**
 * The dialog that moves one endpoint, or all at once, and first says what will happen. The script opens and fills
 * it; a disabled fieldset is not shown.
 */
const moveDialog = (): Html =>
  html`<dialog id="move" aria-labelledby="move-title">
    <form method="dialog" autocomplete="off">
      <h2 id="move-title" data-part="title"></h2>
      <p class="where" data-part="now"></p>
      <fieldset name="to">
        <p>
          <label for="move-stage">Stage</label>
          <select id="move-stage" name="stage">
            ${stageNames.map(
              (stage) =>
                html`<option
                  value="${stage}"
                  data-will="${effects[stage]}"
                  data-text="${stageText({ stage, share: "{share}" })}"
                >
                  ${stage}
                </option>`,
            )}
          </select>
        </p>
        <p>
          <label for="move-share">Share in percent</label>
          <input id="move-share" name="share" type="number" min="0" max="100" step="1" required inputmode="numeric" />
        </p>
      </fieldset>
      <p class="will" aria-live="polite" data-part="will"></p>
      <p class="evidence" aria-live="polite" data-part="evidence"></p>
      <p>
        <label for="move-why">Why</label>
        <input id="move-why" name="why" required maxlength="500" />
      </p>
      <p>
        <label for="move-by">Your name</label>
        <input id="move-by" name="by" required maxlength="100" autocomplete="name" />
      </p>
      <p class="trouble" role="alert" data-part="error"></p>
      <fieldset name="against" disabled>
        <p>
          <label for="move-despite">Why anyway</label>
          <input id="move-despite" name="despite" required maxlength="500" />
        </p>
      </fieldset>
      <p class="ends">
        <button type="button" data-close>Cancel</button>
        <button type="submit" class="main" data-part="confirm">Confirm</button>
      </p>
    </form>
  </dialog>`;
