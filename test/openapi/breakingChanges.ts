type Schema = Record<string, unknown>;
type Raw = Record<string, unknown>;
/** A document of OpenAPI 3.1, as JSON. */
export type OpenApi = { paths: Record<string, Record<string, Raw>>; components: Raw };

/** A schema and the document that its references are of. */
type Side = { schema: Schema; document: OpenApi };

const resolve = (value: unknown, document: OpenApi): Raw => {
  const { $ref } = value as { $ref?: string };
  if ($ref === undefined) return value as Raw;
  let found: unknown = document;
  for (const key of $ref.slice(2).split("/")) found = (found as Raw)[key];
  return found as Raw;
};

/** What clients of the `released` document would stumble over in the `next` one, as sentences; none where all of them go on working. */
export const breakingChanges = (released: OpenApi, next: OpenApi): string[] =>
  Object.entries(released.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, before]) => {
      const name = `${method.toUpperCase()} ${path}`;
      const after = next.paths[path]?.[method];
      if (after === undefined) return [`${name}: the operation is gone`];
      const changes = [
        ...inputChanges({ one: before, document: released }, { one: after, document: next }),
        ...answerChanges({ one: before, document: released }, { one: after, document: next }),
      ];
      return changes.map((change) => `${name}: ${change}`);
    }),
  );

type OperationOf = { one: Raw; document: OpenApi };

const inputChanges = (before: OperationOf, after: OperationOf): string[] => {
  const changes: string[] = [];
  if (after.one["security"] !== undefined && before.one["security"] === undefined) changes.push("it needs a key now");
  const [old, now] = [parametersOf(before), parametersOf(after)];
  for (const [name, { required }] of now)
    if (required === true && old.get(name)?.["required"] !== true) changes.push(`parameter ${name} is required now`);
  for (const [name, { schema }] of old) {
    const found = now.get(name);
    if (found === undefined) changes.push(`parameter ${name} is gone`);
    else
      changes.push(
        ...notIncluded(sideOf(schema, before), sideOf(found["schema"], after), {
          at: `parameter ${name}`,
          isInput: true,
        }),
      );
  }
  const [oldBody, newBody] = [bodyOf(before), bodyOf(after)];
  if (newBody?.required === true && oldBody?.required !== true) changes.push("the body is required now");
  if (oldBody && newBody)
    changes.push(
      ...notIncluded(sideOf(oldBody.schema, before), sideOf(newBody.schema, after), { at: "body", isInput: true }),
    );
  return changes;
};

const sideOf = (schema: unknown, { document }: OperationOf): Side => ({ schema: schema as Schema, document });

const parametersOf = ({ one, document }: OperationOf): Map<string, Raw> =>
  new Map(
    ((one["parameters"] ?? []) as unknown[]).map((parameter) => {
      const found = resolve(parameter, document);
      return [`${String(found["in"])}.${String(found["name"])}`, found];
    }),
  );

const bodyOf = ({ one }: OperationOf): { required: boolean; schema: Schema } | undefined => {
  const body = one["requestBody"] as { required?: boolean; content: Record<string, { schema: Schema }> } | undefined;
  return body && { required: body.required === true, schema: body.content["application/json"]?.schema ?? {} };
};

type Response = { headers?: Raw; content?: Record<string, { schema: Schema }> };

const answerChanges = (before: OperationOf, after: OperationOf): string[] =>
  Object.entries(before.one["responses"] as Raw).flatMap(([status, response]) => {
    const found = (after.one["responses"] as Raw)[status];
    if (found === undefined) return [`status ${status} is gone`];
    const old = resolve(response, before.document) as Response;
    const now = resolve(found, after.document) as Response;
    const headers = Object.keys(old.headers ?? {}).filter((name) => now.headers?.[name] === undefined);
    return [
      ...headers.map((name) => `header ${name} of ${status} is gone`),
      ...Object.entries(old.content ?? {}).flatMap(([type, { schema }]) => {
        const media = now.content?.[type];
        if (media === undefined) return [`${type} of ${status} is gone`];
        return notIncluded(sideOf(media.schema, after), sideOf(schema, before), { at: status, isInput: false });
      }),
    ];
  });

type Place = { at: string; isInput: boolean; seen?: ReadonlySet<string> };

/** Why a value that fits `inner` may not fit `outer`. An answer may have more properties than before; an input may not have fewer. */
const notIncluded = (inner: Side, outer: Side, { at, isInput, seen = new Set() }: Place): string[] => {
  const pair = `${String(inner.schema["$ref"])} ${String(outer.schema["$ref"])}`;
  // Schemas may refer to themselves.
  if (inner.schema["$ref"] !== undefined && seen.has(pair)) return [];
  const place = { at, isInput, seen: new Set([...seen, pair]) };
  const alternatives = alternativesOf(outer);
  return alternativesOf(inner).flatMap((one) => {
    const reasons = alternatives.map((other) => reasonsAgainst(one, other, place));
    return reasons.find((list) => list.length === 0) ?? reasons.toSorted((a, b) => a.length - b.length)[0] ?? [];
  });
};

/** The schemas without references, unions and lists of types: a value fits one of them. */
const alternativesOf = ({ schema, document }: Side): Side[] => {
  const found = resolve(schema, document);
  const { anyOf, type, ...rest } = found;
  if (anyOf !== undefined)
    return (anyOf as Schema[]).flatMap((one) => alternativesOf({ schema: { ...rest, ...one }, document }));
  if (Array.isArray(type)) return type.map((one: unknown) => ({ schema: { ...rest, type: one }, document }));
  return [{ schema: found, document }];
};

/** Bounds, and whether a larger one lets more values in. */
const bounds = [
  ["minimum", false],
  ["maximum", true],
  ["minLength", false],
  ["maxLength", true],
  ["minItems", false],
  ["maxItems", true],
] as const;

const reasonsAgainst = (inner: Side, outer: Side, place: Place): string[] => {
  const { at, isInput } = place;
  const [a, b] = [inner.schema, outer.schema];
  const [old, now] = isInput ? [a, b] : [b, a];
  const isNumber = a["type"] === "integer" && b["type"] === "number";
  if (b["type"] !== undefined && a["type"] !== b["type"] && !isNumber)
    return [`${at}: ${kindOf(old)} became ${kindOf(now)}`];
  const reasons: string[] = [];
  if (b["enum"] !== undefined) {
    const allowed = b["enum"] as unknown[];
    const others = ((a["enum"] as unknown[] | undefined) ?? ["any other"]).filter((value) => !allowed.includes(value));
    if (others.length > 0) reasons.push(`${at}: ${others.join(", ")} ${isInput ? "is refused now" : "is new"}`);
  }
  for (const [name, growsWith] of bounds) {
    const [ours, theirs] = [a[name] as number | undefined, b[name] as number | undefined];
    if (theirs !== undefined && (ours === undefined || (growsWith ? ours > theirs : ours < theirs)))
      reasons.push(`${at}: ${name} was ${boundOf(old, name)}, is ${boundOf(now, name)}`);
  }
  if (b["pattern"] !== undefined && a["pattern"] !== b["pattern"]) reasons.push(`${at}: another pattern`);
  if (b["items"] !== undefined)
    reasons.push(
      ...notIncluded(
        { ...inner, schema: (a["items"] ?? {}) as Schema },
        { ...outer, schema: b["items"] as Schema },
        { ...place, at: `${at}.*` },
      ),
    );
  return [...reasons, ...propertyReasons(inner, outer, place)];
};

const boundOf = (schema: Schema, name: string): string => (schema[name] as number | undefined)?.toString() ?? "none";

const kindOf = ({ type }: Schema): string => (type as string | undefined) ?? "anything";

const propertyReasons = (inner: Side, outer: Side, place: Place): string[] => {
  const { at, isInput } = place;
  const [a, b] = [inner.schema, outer.schema].map(({ properties, required }) => ({
    properties: (properties ?? {}) as Record<string, Schema>,
    required: (required ?? []) as string[],
  })) as [Members, Members];
  const reasons = b.required
    .filter((name) => !a.required.includes(name) && (isInput || name in a.properties))
    .map((name) => `${at}.${name}: ${isInput ? "it is required now" : "it may be absent now"}`);
  const [old, now] = isInput ? [a, b] : [b, a];
  for (const name of Object.keys(old.properties))
    if (!(name in now.properties) && (!isInput || outer.schema["additionalProperties"] === false))
      reasons.push(`${at}.${name}: it is gone`);
  for (const [name, schema] of Object.entries(a.properties)) {
    const other = b.properties[name];
    if (other !== undefined)
      reasons.push(
        ...notIncluded({ ...inner, schema }, { ...outer, schema: other }, { ...place, at: `${at}.${name}` }),
      );
  }
  return reasons;
};

type Members = { properties: Record<string, Schema>; required: string[] };
