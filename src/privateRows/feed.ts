import { constants, gunzipSync } from "node:zlib";
import type { Beginning } from "../passThrough/heldAnswer.ts";
import { readLegacy } from "../legacy/reading.ts";
import { xmlReader } from "../legacy/xml.ts";
import { type ErrorTable, outcomeOf } from "../outcome/legacyOutcome.ts";
import type { OutcomeKind } from "../outcome/outcome.ts";
import type { Json } from "../rules/rule.ts";
import type { PrivateIndex } from "./index.ts";
import type { PrivateRowsKnowledge } from "./knowledge.ts";
import type { Questions } from "./questions.ts";

type Input = Record<string, unknown>;

/** What goes through the gateway tells of private rows. Nothing of it is believed: it says where to look. */
export type Feed = {
  /** Written by the new interface, which changes what is known of a row but not who sees it. */
  touched(groups: readonly string[]): void;
  /** Written by legacy's own interface; `undefined`: nobody knows what came of it. */
  written(path: string, groups: readonly string[], answer: Beginning | undefined): void;
  /** What an endpoint answered, or what it came to instead. */
  answered(endpoint: string, input: Input, answer: { ours: Json } | { kind: OutcomeKind }, isKeyed: boolean): void;
  /** The row that a path reads, where it passes through. */
  readBy(method: string, path: string): number | undefined;
  passed(id: number, answer: Beginning): void;
};

type FeedSettings = {
  knowledge: PrivateRowsKnowledge;
  index: PrivateIndex;
  questions: Pick<Questions, "ask">;
  errors: ErrorTable;
  /** Milliseconds for which a write whose answer is lost may still be going on. */
  unsettled: number;
};

const readXml = xmlReader([]);

/** As much as is unzipped of an answer's beginning, in bytes. */
const UNZIPPED = 1024 * 1024;

/** Answers travel as the client asked for them. */
const bodyOf = ({ headers, body }: Beginning): Buffer => {
  if (headers["content-encoding"] !== "gzip") return body;
  try {
    return gunzipSync(body, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: UNZIPPED });
  } catch {
    return Buffer.alloc(0);
  }
};

export const openFeed = ({ knowledge, index, questions, errors, unsettled }: FeedSettings): Feed => {
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

  const listed = (input: Input, ours: Json, isKeyed: boolean): void => {
    const rows = Array.isArray(ours) ? ours : [];
    const uploader = knowledge.uploaderOf(input);
    for (const row of rows) {
      const known = index.get(knowledge.idOf(row));
      if (known === undefined) continue;
      // Legacy lists a private row to its uploader alone, and nobody's question tells whose key it was.
      if (!isKeyed) questions.ask(known.id);
      else if (uploader !== undefined && known.uploader !== uploader) index.put({ ...known, uploader });
    }
  };

  return {
    touched(groups) {
      for (const id of idsIn(groups)) if (index.get(id) !== undefined) questions.ask(id);
    },
    written(path, groups, answer) {
      const created = answer?.status === 200 ? passing.created.exec(bodyOf(answer).toString("latin1")) : null;
      const ids = [...idsIn(groups), ...(created?.slice(1) ?? []).flatMap((id) => (id ? [Number(id)] : []))];
      for (const id of new Set(ids)) {
        if (passing.tags.test(path) && index.get(id) === undefined) continue;
        questions.ask(id);
        if (answer === undefined) setTimeout(() => questions.ask(id), unsettled).unref();
      }
    },
    answered(endpoint, input, answer, isKeyed) {
      if (endpoint === read.endpoint) {
        if ("kind" in answer) ended(read.idOf(input), answer.kind);
        else seen(read.idOf(input), read.isPrivate(answer.ours));
      } else if (endpoint === knowledge.endpoint && "ours" in answer) listed(input, answer.ours, isKeyed);
    },
    readBy(method, path) {
      const id = method === "GET" ? passing.path.exec(path)?.[1] : undefined;
      return id === undefined ? undefined : Number(id);
    },
    passed(id, answer) {
      const body = bodyOf(answer);
      if (answer.status === 200) {
        const text = body.toString("latin1");
        if (passing.private.test(text)) seen(id, true);
        else if (passing.public.test(text)) seen(id, false);
        return;
      }
      const reading = readLegacy(body, readXml);
      if (reading.is === "error") ended(id, outcomeOf(reading, errors).kind);
    },
  };
};
