import type { ClientView } from "../callers.ts";

/** Browsers name other browsers as well: the most specific name counts. */
const browsers = ["Edg", "OPR", "Firefox", "Chrome", "Safari"] as const;

/**
 * The program that a user agent names, without its version:
 * `catalogue-client/0.14.2 (Python 3.12)` -> `catalogue-client`.
 */
export const agentFamily = (agent: string): string => {
  if (agent === "") return "";
  if (agent.startsWith("Mozilla/"))
    return (
      browsers
        .find((name) => agent.includes(`${name}/`))
        ?.replace("Edg", "Edge")
        .replace("OPR", "Opera") ?? "Mozilla"
    );
  return /^[^\s/(;]+/.exec(agent)?.[0] ?? agent;
};

/** Callers of one path with one program. */
export type ClientGroup = {
  family: string;
  path: string;
  /** The number of requests. */
  count: number;
  /** ISO 8601. */
  first: string;
  last: string;
  clients: ClientView[];
};

/** The groups of callers, by their number of requests, the largest first. */
export const groupClients = (clients: readonly ClientView[]): ClientGroup[] =>
  Object.values(Object.groupBy(clients, ({ agent, path }) => JSON.stringify([agentFamily(agent), path])))
    .flatMap((group = []) => {
      const [first] = group;
      if (first === undefined) return [];
      const times = (name: "first" | "last") => group.map((client) => client[name]).toSorted();
      return {
        family: agentFamily(first.agent),
        path: first.path,
        count: group.reduce((sum, { count }) => sum + count, 0),
        first: times("first")[0] ?? "",
        last: times("last").at(-1) ?? "",
        clients: group.toSorted((a, b) => b.count - a.count),
      };
    })
    .toSorted((a, b) => b.count - a.count);

/** True if the group, or one of its clients, has this text anywhere; upper and lower case are the same. */
export const matchesSearch = ({ family, path, clients }: ClientGroup, text: string): boolean => {
  const wanted = text.trim().toLowerCase();
  const texts = [family, path, ...clients.flatMap(({ caller, agent }) => [caller, agent])];
  return texts.some((shown) => shown.toLowerCase().includes(wanted));
};

const columns = ["path", "family", "agent", "caller", "count", "first", "last"] as const;

/** A cell of a CSV file (RFC 4180). Text that begins like a formula gets an apostrophe: spreadsheets would run it. */
const csvCell = (value: string | number): string => {
  const text = String(value).replace(/^(?=[=+\-@\t\r])/, "'");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** All clients as a CSV file with a line of names. */
export const clientsCsv = (clients: readonly ClientView[]): string =>
  [
    columns,
    ...clients.map((client) => columns.map((name) => (name === "family" ? agentFamily(client.agent) : client[name]))),
  ]
    .map((row) => row.map(csvCell).join(","))
    .join("\r\n") + "\r\n";
