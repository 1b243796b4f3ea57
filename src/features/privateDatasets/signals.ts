import type { Feature } from "../../serve/feature.ts";
import { plainBody } from "../../proxy/heldAnswer.ts";
import { UNSETTLED } from "../../serve/unconfirmedWrites.ts";
import { changesTags, idsOfGroups, isRefusal, uploadedIn } from "./datasets.ts";

/** Has datasets read next that a write names: tags are of interest only if the dataset is known to be private. */
export const readWritten =
  (isKnown: (id: number) => boolean, readNext: (id: number) => void): NonNullable<Feature["onWrite"]> =>
  ({ groups, isLost, proxied }) => {
    const ids = new Set(idsOfGroups([...groups, ...(proxied?.named ?? [])]));
    const text = proxied?.answer && plainBody(proxied.answer).toString("latin1");
    if (text !== undefined && isRefusal(text)) return;
    const uploaded = text === undefined ? undefined : uploadedIn(text);
    if (uploaded !== undefined) ids.add(uploaded);
    const isAboutTags = proxied === undefined || changesTags(proxied.path);
    const written = [...ids].filter((id) => !isAboutTags || isKnown(id));
    for (const id of written) readNext(id);
    // It may still be going on.
    if (isLost) setTimeout(() => written.map(readNext), UNSETTLED).unref();
  };
