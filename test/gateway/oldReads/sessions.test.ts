import { expect, onTestFinished, test } from "vitest";
import { sampleCatalogue } from "../../../tools/sampleLegacy/catalogue.ts";
import { startSampleLegacy } from "../../../tools/sampleLegacy/startSampleLegacy.ts";
import { endpoints } from "../../../transforms/index.ts";
import { clock } from "../cache/support.ts";
import { samplePaths } from "./sample.ts";
import { cachingOver } from "./support.ts";

const goodKey = sampleCatalogue.users[0]?.key ?? "";

/**
 * The habits of a client. `form`: the form in paths of records; lists are JSON. `isPosting`: it reads by
 * POST, with its key in a form.
 */
type Client = { name: string; key?: string; form: "/json" | "/xml" | ""; keepsCookies?: true; isPosting?: true };

const apiconnector: Client = { name: "apiconnector", form: "", isPosting: true };
const clients: readonly Client[] = [
  { name: "openml-r without a key", key: "", form: "", keepsCookies: true },
  { name: "openml-r with a key", key: goodKey, form: "", keepsCookies: true },
  { name: "mlr3oml without a key", form: "/json" },
  { name: "mlr3oml with a key", key: goodKey, form: "/json" },
  { name: "openml-python", key: goodKey, form: "/xml" },
  apiconnector,
];

const isList = (name: string): boolean => name.startsWith("list");
const FILE = "file";
/** Legacy does not escape the values in its JSON. */
const UNPARSABLE = "listEvaluationsWithSetups";

/**
 * The requests of a client: each example of each endpoint. A data file comes in the middle: legacy
 * begins a session with it.
 */
const targetsOf = ({ form, isPosting }: Client): { name: string; target: string }[] => {
  const formOf = (name: string) => (name === UNPARSABLE ? "/xml" : isList(name) ? "/json" : form);
  const targets = samplePaths()
    .filter(({ path }) => path.startsWith("/api/v1/json/"))
    // A POST is a read where the path has an id.
    .filter(({ path }) => isPosting !== true || !/study\/[a-z-]+$/.test(path))
    .map(({ name, path }) => ({ name, target: path.replace("/json", formOf(name)) }));
  return targets.toSpliced(targets.length / 2, 0, { name: FILE, target: "/data/v1/download/61/iris.arff" });
};

/** An answer. `mayShowMore`: it was asked for with a key, or in a session. */
type Came = { name: string; target: string; status: number; body: string; how: string; mayShowMore: boolean };

/** The requests of a client, which it sends one after the other, with its cookies. */
const openClient = (client: Client) => {
  const { key, keepsCookies, isPosting } = client;
  let cookie: string | undefined;
  const ask = async (url: string, { name, target }: { name: string; target: string }): Promise<Came> => {
    const isKeyed = key !== undefined && name !== FILE;
    const form = { method: "POST", body: new URLSearchParams({ api_key: goodKey }) };
    const mayShowMore = (isKeyed && key !== "") || cookie !== undefined;
    const { status, headers, ...answer } = await fetch(`${url}${target}${isKeyed ? `?api_key=${key}` : ""}`, {
      headers: cookie === undefined ? {} : { Cookie: cookie },
      redirect: "manual",
      ...(isPosting && form),
    }).then(async (given) => ({ status: given.status, headers: given.headers, body: await given.text() }));
    for (const set of keepsCookies ? headers.getSetCookie() : [])
      cookie = set.includes("Max-Age=0") ? undefined : set.split(";")[0];
    return { name, target, status, ...answer, how: headers.get("cache-status") ?? "passed", mayShowMore };
  };
  return async (url: string): Promise<Came[]> => {
    const came: Came[] = [];
    for (const about of targetsOf(client)) came.push(await ask(url, about));
    return came;
  };
};

const answersOf = (came: readonly Came[]) => came.map(({ target, status, body }) => ({ target, status, body }));

const cached = Object.entries(endpoints).filter(([, { cache }]) => cache !== undefined);
const shortLived = Object.fromEntries(cached.map(([name]) => [name, { fresh: "1s", staleWhileRevalidate: "0s" }]));

/** A gateway over the sample legacy. */
const openGateway = async () => {
  clock();
  const legacy = await startSampleLegacy();
  onTestFinished(legacy.close);
  return cachingOver(legacy, { CACHE_LIFETIMES: JSON.stringify(shortLived) });
};

/** True if the cache answers while legacy is well: callers who may be shown more get only public documents from it. */
const isFromCache = ({ name, status, mayShowMore }: Came): boolean =>
  name !== FILE &&
  (!mayShowMore || (status === 200 && endpoints[name as keyof typeof endpoints].cache?.personal !== true));

test.each(clients)("each answer of a session is legacy's to the byte: $name", async (client) => {
  const { legacy, url } = await openGateway();
  const [play, playDirectly] = [openClient(client), openClient(client)];
  for (let i = 0; i < 2; i++) {
    const came = await play(url);
    expect(answersOf(came)).toEqual(answersOf(await playDirectly(legacy.url)));
    const fromCache = came.map((answer) => client.isPosting !== true && isFromCache(answer));
    expect(came.map(({ how }) => how !== "passed")).toEqual(fromCache);
  }
});

test("reads by POST invalidate nothing", async () => {
  const { url } = await openGateway();
  const play = openClient({ name: "nobody", form: "" });
  await play(url);
  await openClient(apiconnector)(url);
  const again = await play(url);
  expect(again.filter(({ how }) => !how.includes("; hit")).map(({ name }) => name)).toEqual([FILE]);
});
