import type { OverviewNumber, PagePart } from "../../../ui/consolePart.ts";
import { joinModules, readAsset } from "../../../ui/documentFrame.ts";
import { html } from "../../../ui/html.ts";
import { counted, formatNumber, rate } from "../../../ui/wording.ts";
import { stageNames } from "../stage.ts";
import type { StageView } from "../views.ts";
import { expectDialog, moveDialog } from "./dialogs.ts";
import { liveDifferencesSection } from "./differencesSection.ts";
import { auditSection, ledgerSection } from "./recordSections.ts";
import { differenceKinds, type OperatedMigration } from "./routes.ts";
import { stagesSection } from "./stagesSection.ts";

const fileUrl = (file: string): URL => new URL(file, import.meta.url);

/** Stages, differences, the audit log and the ledger, with the dialogs that change them. */
export const migrationPage = (migration: OperatedMigration): PagePart => ({
  style: ["stages.css", "differences.css"].map((file) => readAsset(fileUrl(file))).join("\n"),
  script: joinModules(["client/filters.js", "client/moveDialog.js", "client/expectDialog.js"].map(fileUrl)),
  dialogs: html`${moveDialog()} ${expectDialog()}`,
  show(now) {
    const { hasModern } = migration;
    const [stages, audit, expected] = [migration.view(), migration.audit(), migration.expected()];
    const differences = differenceKinds.flatMap((kind) => migration.differences(kind));
    const unexplained = differences.filter(({ kind }) => kind === "unexplained").length;
    const views = Object.values(stages);
    return {
      headline: { text: headlineOf(views, unexplained, hasModern), about: html`<strong>Migration</strong> to modern` },
      numbers: numbersOf(views, unexplained),
      sections: [
        stagesSection(stages, hasModern, now),
        liveDifferencesSection(differences, Object.keys(stages)),
        auditSection(audit),
        ledgerSection(expected, now),
      ],
    };
  },
});

const numbersOf = (views: readonly StageView[], unexplained: number): OverviewNumber[] => [
  ...stageNames.map((name) => ({
    order: 10,
    name: `in ${name}`,
    value: formatNumber(views.filter(({ stage }) => stage === name).length),
  })),
  { order: 20, name: "unexplained", value: formatNumber(unexplained), isUnexplained: unexplained > 0 },
  { order: 40, name: "requests a second", value: rate(views.reduce((sum, view) => sum + view.rate, 0)) },
];

const headlineOf = (views: readonly StageView[], unexplained: number, hasModern: boolean): string => {
  if (unexplained > 0) return `${counted(unexplained, "difference")} that nothing explains`;
  if (!hasModern) return "Legacy answers everything";
  const moved = views.filter(({ stage }) => stage === "modern").length;
  return moved === views.length
    ? "Modern answers everything"
    : `Nothing unexplained; ${moved} of ${counted(views.length, "endpoint")} moved`;
};
