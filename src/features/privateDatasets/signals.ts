import type { Feature } from "../../serve/feature.ts";
import { type Beginning, plainBody } from "../../proxy/heldAnswer.ts";
import * as datasets from "./datasets.ts";
import type { PrivateIndex } from "./index.ts";
import { uploaderIn } from "./matching.ts";
import type { RecheckQueue } from "./recheckQueue.ts";

type SignalsSettings = {
  index: PrivateIndex;
  queue: Pick<RecheckQueue, "add">;
  scanSoon: () => void;
  /** Milliseconds for which a write without an answer may still be running. */
  unsettled: number;
};

/** The largest number of rows of one write that are rechecked. The next scan reads the others. */
const MAX_WRITTEN = 10;

/** Makes the hooks that observe traffic. Traffic is not trusted: it only decides which rows are read again. */
export const openSignals = ({ index, queue, scanSoon, unsettled }: SignalsSettings) => {
  const isKnown = (id: number) => index.get(id) !== undefined;
  /** Only a difference from the index is worth a recheck. */
  const compare = (id: number, isPrivate: boolean | undefined): void => {
    if (isPrivate !== undefined && isKnown(id) !== isPrivate) queue.add(id);
  };
  const recheck = (ids: readonly number[], isLost: boolean): void => {
    for (const id of ids) queue.add(id);
    if (isLost) setTimeout(() => recheck(ids, false), unsettled).unref();
  };
  /** A list that a caller got has rows with these ids. */
  const listed = (input: Record<string, unknown>, ids: readonly number[], isKeyed: boolean): void => {
    const uploader = uploaderIn(input);
    for (const row of ids.flatMap((id) => index.get(id) ?? []))
      // Legacy lists a private row to its owner only. The key does not say whose it is, the filter does.
      if (!isKeyed) queue.add(row.id);
      else if (uploader !== undefined && row.uploader !== uploader) index.put({ ...row, uploader });
  };

  const hooks = {
    onLegacyAnswer({ endpoint, found }) {
      if (found === undefined) return;
      const { input, answer, isKeyed } = found;
      if (endpoint === datasets.READ_ENDPOINT)
        compare(
          Number(input["dataset_id"]),
          "kind" in answer ? visibilityByKind[answer.kind] : datasets.isPrivateDocument(answer.ours),
        );
      else if (endpoint === datasets.LIST_ENDPOINT && "ours" in answer && Array.isArray(answer.ours))
        listed(input, answer.ours.map(datasets.idOfRow), isKeyed);
    },
    onWrite({ groups, isLost, proxied }) {
      if (proxied === undefined) return recheck(datasets.idsOfGroups(groups).filter(isKnown), isLost);
      const { path, named, answer } = proxied;
      const text = answer && textOf(answer);
      const code = text === undefined ? undefined : datasets.errorCodeIn(text);
      if (code !== undefined && code !== datasets.INDEX_FAILED) return;
      const uploaded = answer?.status === 200 && text !== undefined ? datasets.uploadedIn(text) : undefined;
      const ids = new Set(datasets.idsOfGroups([...groups, ...named]));
      if (uploaded !== undefined) ids.add(uploaded);
      const affected = [...ids].filter((id) => isKnown(id) || !datasets.changesTags(path));
      if (affected.length > MAX_WRITTEN) scanSoon();
      else recheck(affected, answer === undefined);
    },
    proxy: {
      observe({ method, legacy, isWrite }) {
        const id = isWrite || method !== "GET" ? undefined : datasets.idOfPath(legacy.path);
        return id === undefined ? undefined : (answer) => answer && compare(id, isPrivateAnswer(answer));
      },
    },
  } satisfies Feature;
  return { ...hooks, listed };
};

const textOf = (answer: Beginning): string => plainBody(answer).toString("latin1");

/** What our outcomes of reading one row say of it. */
const visibilityByKind: Partial<Record<string, boolean>> = { noAccess: true, notFound: false };

/** Whether legacy's answer to a request for one row shows a private one. */
const isPrivateAnswer = (answer: Beginning): boolean | undefined => {
  const text = textOf(answer);
  const code = datasets.errorCodeIn(text);
  if (code === datasets.NO_ACCESS) return true;
  if (code === datasets.UNKNOWN_DATASET) return false;
  return answer.status === 200 && code === undefined ? datasets.isPrivateIn(text) : undefined;
};
