/** Browsers name others as well: the most specific name is the one that counts. */
const browsers = ["Edg", "OPR", "Firefox", "Chrome", "Safari"] as const;

/** The program that a user agent names, without its version: `catalogue-client/0.14.2 (Python 3.12)` -> `catalogue-client`. */
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
