import type { ErrorBody } from "../../http/problemDetails.ts";
import type { Endpoint } from "../../endpoint/endpoint.ts";
import { type Examples, openApiDocument } from "../../openapi/openApiDocument.ts";
import type { Json } from "../../rules/rule.ts";

/** What is read of a pair of fixtures. In `expected.body`, `"*"` stands for any text. */
type ExamplePair = {
  endpoint: string;
  ask: { json?: unknown };
  expected: { status: number; body: unknown };
};

type OpenApiSettings = {
  version: string;
  prefix: string;
  endpoints: Readonly<Record<string, Endpoint>>;
  pairs: readonly ExamplePair[];
};

/** Characters of an example, those of its request counted four times: it shows many fields, and is still read at a glance. */
const MAX_EXAMPLE = 2500;

const lengthOf = (value: unknown): number => JSON.stringify(value)?.length ?? 0;

/** The longest of those that are not too long; the shortest where all of them are. */
const chosen = <T>(all: readonly T[], length: (one: T) => number, most: number): T | undefined => {
  const sorted = all.toSorted((a, b) => length(b) - length(a));
  return sorted.find((one) => length(one) <= most) ?? sorted.at(-1);
};

const examplesOf = (name: string, pairs: readonly ExamplePair[]): Examples => {
  const own = pairs.filter(({ endpoint, expected }) => endpoint === name && !JSON.stringify(expected).includes('"*"'));
  const answered = own.filter(({ expected }) => expected.status === 200);
  const withBody = answered.filter(({ ask }) => lengthOf(ask.json) > lengthOf({}));
  // A request with several fields says more than a long answer.
  const best = chosen(
    withBody.length > 0 ? withBody : answered,
    ({ ask, expected }) => 4 * lengthOf(ask.json) + lengthOf(expected.body),
    MAX_EXAMPLE,
  );
  const errors: Record<number, ErrorBody> = {};
  for (const { expected } of own.toSorted((a, b) => lengthOf(a.expected.body) - lengthOf(b.expected.body)))
    if (expected.status >= 400) errors[expected.status] ??= expected.body as ErrorBody;
  return {
    errors,
    ...(best === undefined ? {} : { answer: best.expected.body as Json }),
    ...(best?.ask.json === undefined ? {} : { request: best.ask.json as Json }),
  };
};

/** The text of `docs/openapi.json`, with examples out of the fixtures. */
export const openApiText = ({ version, prefix, endpoints, pairs }: OpenApiSettings): string => {
  const examples = Object.fromEntries(Object.keys(endpoints).map((name) => [name, examplesOf(name, pairs)]));
  return `${JSON.stringify(openApiDocument({ version, prefix, endpoints, examples }), null, 2)}\n`;
};
