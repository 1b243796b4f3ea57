import type { Endpoint } from "../endpoint/endpoint.ts";
import { type Kind, nothingCounted } from "./difference.ts";
import { fieldReports } from "./fields.ts";
import type { Report, Summary } from "./report.ts";
import type { TallyState } from "./tally.ts";

type About = Pick<Report, "made" | "sides" | "skipped"> & { endpoints: Readonly<Record<string, Endpoint>> };

const rank: Record<Kind | "equal", number> = { unexplained: 0, drift: 1, expected: 2, explained: 3, equal: 4 };

/** What has been counted, ranked for a reader: what nobody explains first, then what touches the most answers. */
export const reportOf = (state: TallyState, { made, sides, skipped, endpoints }: About): Report => {
  const worstFirst = (a: { kind: Kind; answers: number }, b: { kind: Kind; answers: number }) =>
    rank[a.kind] - rank[b.kind] || b.answers - a.answers;
  const names = Object.keys(endpoints).filter((name) => state.summaries[name]);
  const fields = names.flatMap((name) => {
    const endpoint = endpoints[name];
    return endpoint ? [fieldReports(name, endpoint.output, state.fields[name] ?? {})] : [];
  });
  return {
    made,
    sides,
    summary: names.map((name) => state.summaries[name] as Summary).reduce(added, nothing),
    endpoints: Object.fromEntries(names.map((name) => [name, state.summaries[name] as Summary])),
    differences: state.differences.map(([, difference]) => difference).toSorted(worstFirst),
    causes: state.causes.map(([, cause]) => cause).toSorted(worstFirst),
    failures: state.failures.map(([, failure]) => failure).toSorted((a, b) => b.count - a.count),
    exhibits: state.exhibits.toSorted((a, b) => rank[a.standing] - rank[b.standing]),
    coverage: fields.flatMap(({ coverage }) => coverage),
    schemaDrift: fields.flatMap(({ schemaDrift }) => schemaDrift),
    skipped,
  };
};

const nothing: Summary = { ...nothingCounted(), failed: 0 };

const added = (a: Summary, b: Summary): Summary =>
  Object.fromEntries(Object.keys(a).map((key) => [key, a[key as keyof Summary] + b[key as keyof Summary]])) as Summary;
