import type { LegacyRequest, Unsent } from "../../endpoint/legacyRequest.ts";
import type { LegacyFailed, LegacyReply } from "../../legacy/client.ts";
import { type ErrorTable, outcomeOf } from "../../legacy/reading.ts";
import type { JsonObject } from "../../rules/rule.ts";
import type { RowsPage, PrivateRowsKnowledge } from "../../endpoint/privateRows.ts";

/** Asks legacy one thing, in whichever form can be read; or in its XML form alone. */
export type AskLegacy = (request: LegacyRequest, form?: "xml") => Promise<LegacyReply | LegacyFailed>;

/** How legacy is asked: as somebody with a key, and as nobody. */
export type Looking = { ask: AskLegacy; askAsNobody: AskLegacy; errors: ErrorTable };

/** Legacy gave no answer that says anything (`isSpoilt`: it did, but nobody can read it), or the key is not what it should be. */
export type Unheard = { failed: string; isSpoilt?: boolean } | { refused: string };

/** What legacy said: the code of an error decides, as everywhere. */
export type Heard = { document: JsonObject } | { code: number; kind: string } | Unheard;

export const hear = async (
  ask: AskLegacy,
  request: LegacyRequest | Unsent,
  errors: ErrorTable,
  form?: "xml",
): Promise<Heard> => {
  if ("unsent" in request) return { failed: request.unsent };
  const reply = await ask(request, form);
  if ("failed" in reply) return { failed: reply.why };
  const { reading, status } = reply;
  if (reading.is === "unreadable") return { failed: reading.why, isSpoilt: status === 200 };
  if (reading.is === "document")
    return status === 200 ? { document: reading.document } : { failed: `it answered with status ${status}` };
  const { kind } = outcomeOf(reading, errors);
  if (kind === "unauthenticated") return { refused: "legacy does not know the key" };
  return kind === "unavailable" ? { failed: reading.message } : { code: reading.code, kind };
};

const noList = (heard: { code: number }): Unheard => ({ failed: `it answered with code ${heard.code}` });

/** Legacy's JSON writes names as they are: whoever names a row can write rows of their own. Its XML form does not let them. */
const hearIds = async (
  knowledge: PrivateRowsKnowledge,
  ask: AskLegacy,
  request: LegacyRequest | Unsent,
  errors: ErrorTable,
): Promise<{ ids: number[] } | Unheard> => {
  const heard = await hear(ask, request, errors, "xml");
  if ("code" in heard) return knowledge.noneListed.has(heard.code) ? { ids: [] } : noList(heard);
  if (!("document" in heard)) return heard;
  const ids = knowledge.idsIn(heard.document);
  return ids === undefined ? { failed: "it answered with something that is no list", isSpoilt: true } : { ids };
};

/** The ids on a page of what anybody is listed. */
export const listedPage = async (
  knowledge: PrivateRowsKnowledge,
  page: RowsPage,
  { askAsNobody, errors }: Looking,
): Promise<{ ids: number[] } | Unheard> => hearIds(knowledge, askAsNobody, knowledge.listed(page), errors);

/** Which of these ids (at most `maxIds`) are listed to whoever asks. */
export const listedAmong = (
  knowledge: PrivateRowsKnowledge,
  ids: readonly number[],
  ask: AskLegacy,
  errors: ErrorTable,
): Promise<{ ids: number[] } | Unheard> => hearIds(knowledge, ask, knowledge.listedAmong(ids), errors);

/**
 * Whether a row is listed to whoever asks. Only legacy's own word that there is nothing says that it is not: whatever stands in a list may
 * have been written by who named a row.
 */
export const isListed = async (
  knowledge: PrivateRowsKnowledge,
  id: number,
  ask: AskLegacy,
  errors: ErrorTable,
): Promise<{ isListed: boolean } | Unheard> => {
  const heard = await hear(ask, knowledge.listedAmong([id]), errors, "xml");
  if ("document" in heard) return { isListed: true };
  if ("code" in heard) return knowledge.noneListed.has(heard.code) ? { isListed: false } : noList(heard);
  // What nobody can read is something, too.
  return "failed" in heard && heard.isSpoilt ? { isListed: true } : heard;
};

/** Whether legacy answers anything at all, be it that there is nothing. */
export const answersAtAll = async (knowledge: PrivateRowsKnowledge, looking: Looking): Promise<boolean> => {
  if ("ids" in (await listedPage(knowledge, { offset: 0, limit: 1 }, looking))) return true;
  const heard = await hear(looking.ask, knowledge.one(1), looking.errors);
  return "document" in heard || "code" in heard;
};

/** What the search comes to for one id; `hidden`: there is something that not even the administrator is told of. */
export type Looked =
  | { found: "private"; shown: JsonObject }
  | { found: "public" | "none" | "hidden"; why: string }
  | Unheard;

/** Looks at one id, with the administrator's key, and at everything that a list shows of it. */
export const lookAt = async (knowledge: PrivateRowsKnowledge, id: number, looking: Looking): Promise<Looked> => {
  const { ask, askAsNobody, errors } = looking;
  const one = await hear(ask, knowledge.one(id), errors);
  if ("code" in one) {
    const why = `code ${one.code}`;
    if (one.kind === "notFound") return { found: "none", why };
    // What anybody is listed is no private row, whatever else is the matter with it.
    const listed = await isListed(knowledge, id, askAsNobody, errors);
    if (!("isListed" in listed)) return listed;
    if (listed.isListed) return { found: "public", why };
    return one.kind === "noAccess" ? { refused: "the key is no administrator's" } : { found: "hidden", why };
  }
  if (!("document" in one)) return one;
  const visibility = knowledge.visibilityOf(one.document, id);
  if (visibility === undefined) return { failed: "it answered with something else" };
  if (visibility === "public") return { found: "public", why: "it is public" };
  const rest = await hear(ask, knowledge.rest(id), errors);
  if ("document" in rest) return { found: "private", shown: knowledge.shown(one.document, rest.document) };
  if (!("code" in rest)) return rest;
  // Gone between the two, it may be.
  if (!knowledge.noRest.has(rest.code)) return { failed: `it answered with code ${rest.code}` };
  return { found: "private", shown: knowledge.shown(one.document, undefined) };
};
