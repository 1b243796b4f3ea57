import { expect, test } from "vitest";
import {
  agentFamily,
  clientsCsv,
  groupClients,
  matchesSearch,
} from "../../../../features/retirement/console/clientGroups.ts";

const client = (agent: string, path: string, count: number, caller = "nobody") => ({
  caller,
  agent,
  path,
  count,
  first: `2026-11-2${count % 9}T00:00:00.000Z`,
  last: "2026-11-30T00:00:00.000Z",
});

test.each([
  ["catalogue-client/0.14.2 (Python 3.12)", "catalogue-client"],
  ["python-requests/2.32", "python-requests"],
  ["curl/8.5.0", "curl"],
  ["Java HttpClient", "Java"],
  ["Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox"],
  ["Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0", "Edge"],
  ["Mozilla/5.0 (compatible; somebot)", "Mozilla"],
  ["/odd", "/odd"],
  ["", ""],
])("%s is %s", (agent, family) => {
  expect(agentFamily(agent)).toBe(family);
});

test("versions of one program are one group for each path, the busiest first", () => {
  const groups = groupClients([
    client("tool/1", "/a", 2, "x"),
    client("other", "/a", 3),
    client("tool/2", "/a", 5, "y"),
    client("tool/2", "/b", 1),
  ]);
  expect(groups.map(({ family, path, count, clients }) => [family, path, count, clients.length])).toEqual([
    ["tool", "/a", 7, 2],
    ["other", "/a", 3, 1],
    ["tool", "/b", 1, 1],
  ]);
  expect(groups.map((group) => matchesSearch(group, " TOOL/2 "))).toEqual([true, false, true]);
});

test("a CSV file quotes what it must, and runs no formula", () => {
  const [head, row] = clientsCsv([client('=HYPERLINK("http://evil.example"),1', "/a", 2)]).split("\r\n");
  expect(head).toBe("path,family,agent,caller,count,first,last");
  expect(row).toMatch(/^\/a,'=HYPERLINK,"'=HYPERLINK\(""http:\/\/evil\.example""\),1",nobody,2,2026/);
});
