import { type Beginning, plainBody } from "../../proxy/heldAnswer.ts";
import { readLegacy, type ErrorTable, outcomeOf } from "../../legacy/reading.ts";
import { xmlReader } from "../../legacy/xml.ts";
import type { OutcomeKind } from "../../endpoint/outcome.ts";
import type { Json } from "../../rules/rule.ts";
import type { PrivateIndex } from "./index.ts";
import type { PrivateRowsKnowledge } from "../../endpoint/privateRows.ts";
import type { Questions } from "./questions.ts";

type Input = Record<string, unknown>;

/** What goes through the gateway tells of private rows. Nothing of it is believed: it says where to look. */
export type Feed = {
  /** Written by the new interface, which changes what is known of a row but not who sees it; `isLost`: nobody knows what came of it. */
  touched(groups: readonly string[], isLost: boolean): void;
  /** Written by legacy's own interface; `undefined`: nobody knows what came of it. */
  written(path: string, groups: readonly string[], answer: Beginning | undefined): void;
  /** What an endpoint answered, or what it came to instead. */
  answered(endpoint: string, input: Input, answer: { ours: Json } | { kind: OutcomeKind }, isKeyed: boolean): void;
  /** The ids of the rows that a list has. */
  listed(input: Input, ids: readonly number[], isKeyed: boolean): void;
  /** The row that a path reads, where it passes through. */
  readBy(method: string, path: string): number | undefined;
  passed(id: number, answer: Beginning): void;
};

type FeedSettings = {
  knowledge: PrivateRowsKnowledge;
  index: PrivateIndex;
  questions: Pick<Questions, "ask">;
  walkSoon: () => void;
  errors: ErrorTable;
  /** Milliseconds for which a write whose answer is lost may still be going on. */
  unsettled: number;
};

const readXml = xmlReader([]);

const errorIn = (body: Buffer) => {
  const reading = readLegacy(body, readXml);
  return reading.is === "error" ? reading : undefined;
};

/** One write is about a few rows; where it names more, they are looked at as slowly as all others. */
const MOST = 10;

export const openFeed = ({ knowledge, index, questions, walkSoon, errors, unsettled }: FeedSettings): Feed => {
  const { kind, read, passing } = knowledge;
  const entity = new RegExp(`^${kind}/(\\d+)$`);
  const idsIn = (groups: readonly string[]) => groups.flatMap((group) => entity.exec(group)?.[1] ?? []).map(Number);

  /** Only what is not as the index has it is worth a look. */
  const seen = (id: number, isPrivate: boolean): void => {
    if ((index.get(id) !== undefined) !== isPrivate) questions.ask(id);
  };
  const ended = (id: number, outcome: OutcomeKind): void => {
    if (outcome === "noAccess") seen(id, true);
    if (outcome === "notFound") seen(id, false);
  };

  const listed = (input: Input, ids: readonly number[], isKeyed: boolean): void => {
    const uploader = knowledge.uploaderOf(input);
    for (const id of ids) {
      const known = index.get(id);
      if (known === undefined) continue;
      // Legacy lists a private row to its uploader alone, and nobody's question tells whose key it was.
      if (!isKeyed) questions.ask(known.id);
      else if (uploader !== undefined && known.uploader !== uploader) index.put({ ...known, uploader });
    }
  };

  /** What is lost may still be going on. */
  const ask = (id: number, isLost: boolean): void => {
    questions.ask(id);
    if (isLost) setTimeout(() => questions.ask(id), unsettled).unref();
  };

  /** Nothing was written, unless it was and only something beside it failed. */
  const isInVain = (body: Buffer): boolean => {
    const error = errorIn(body);
    return error !== undefined && !passing.writtenAllTheSame.has(error.code);
  };

  return {
    touched(groups, isLost) {
      for (const id of idsIn(groups)) if (index.get(id) !== undefined) ask(id, isLost);
    },
    written(path, groups, answer) {
      const body = answer && plainBody(answer);
      if (body !== undefined && isInVain(body)) return;
      const created = answer?.status === 200 ? passing.created.exec(body?.toString("latin1") ?? "") : null;
      const named = [...idsIn(groups), ...(created?.slice(1) ?? []).flatMap((id) => (id ? [Number(id)] : []))];
      const ids = [...new Set(named)].filter((id) => index.get(id) !== undefined || !passing.tags.test(path));
      if (ids.length > MOST) return walkSoon();
      for (const id of ids) ask(id, answer === undefined);
    },
    answered(endpoint, input, answer, isKeyed) {
      if (endpoint === read.endpoint) {
        if ("kind" in answer) ended(read.idOf(input), answer.kind);
        else seen(read.idOf(input), read.isPrivate(answer.ours));
      } else if (endpoint === knowledge.endpoint && "ours" in answer && Array.isArray(answer.ours))
        listed(
          input,
          answer.ours.map((row) => knowledge.idOf(row)),
          isKeyed,
        );
    },
    listed,
    readBy(method, path) {
      const id = method === "GET" ? passing.path.exec(path)?.[1] : undefined;
      return id === undefined ? undefined : Number(id);
    },
    passed(id, answer) {
      const body = plainBody(answer);
      if (answer.status === 200) {
        const text = body.toString("latin1");
        if (passing.private.test(text)) seen(id, true);
        else if (passing.public.test(text)) seen(id, false);
        return;
      }
      const error = errorIn(body);
      if (error) ended(id, outcomeOf(error, errors).kind);
    },
  };
};
