import type { Report } from "../../../../compare/report.ts";

/** Every endpoint that anything is told about. */
export const endpointsOf = ({ endpoints, differences, examples }: Report): string[] => [
  ...new Set([...Object.keys(endpoints), ...[...differences, ...examples].map(({ endpoint }) => endpoint)]),
];
