import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

/** The rules for Prometheus with their tests, the dashboard for Grafana, and the document about them. */
export const files = {
  alerts: join(root, "deploy/alerts.yaml"),
  alertTests: [join(root, "deploy/alerts.test.yaml"), join(root, "deploy/alerts.budget.test.yaml")],
  dashboard: join(root, "deploy/grafana.json"),
  operate: join(root, "docs/operate.md"),
};

type Panel = {
  id: number;
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { expr: string }[];
};
type Variable = { name: string; type: string; definition?: string };
type Dashboard = {
  panels: Panel[];
  templating: { list: Variable[] };
  annotations: { list: { name: string; expr: string }[] };
};

const dashboard = (): Dashboard => JSON.parse(readFileSync(files.dashboard, "utf8")) as Dashboard;

/** All panels, the headings among them. */
export const dashboardPanels = (): Panel[] => dashboard().panels;

/** A query of the dashboard; `panel`: its title. */
type DashboardQuery = { panel: string; expr: string };

/** All queries of the dashboard, with its variables in them. */
export const dashboardQueries = (): DashboardQuery[] => {
  const { panels, annotations } = dashboard();
  return [
    ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ panel: title, expr }))),
    ...annotations.list.map(({ name, expr }) => ({ panel: name, expr })),
  ];
};

/** The queries that fill the dashboard's variables: `label_values(metric, label)`. */
export const variableQueries = (): string[] =>
  dashboard().templating.list.flatMap(({ type, definition = "" }) => (type === "query" ? [definition] : []));

/** The names of metrics in queries or rules, without those that rules record. */
export const metricNames = (text: string): string[] => [
  ...new Set([...text.matchAll(/(?<![\w:])(?:catalog_gateway|process|nodejs)_\w+/g)].map(([name]) => name)),
];
