import type { PagePart } from "../../libraries/ui/consolePart.ts";
import { html } from "../../libraries/ui/html.ts";
import { bytes, counted, percent } from "../../libraries/ui/wording.ts";
import type { FileSize } from "./entryFile.ts";

/** The part of the operators' page: how much is on the disk, and what it was worth in the last outage. */
export const diskCachePage = (size: () => FileSize | undefined, ofLastOutage: () => number | undefined): PagePart => ({
  show() {
    const { entries = 0, bytes: taken = 0 } = size() ?? {};
    const share = ofLastOutage();
    const facts = [html`<strong>${counted(entries, "answer")}</strong> on the disk (${bytes(taken)})`];
    if (share !== undefined)
      facts.push(html`<strong>${percent(share)}</strong> of the last outage’s requests answered from the disk`);
    const remedy = html`Make room on the disk of <code>DATA_DIR</code>, or repair it; nothing has to be pressed here`;
    return { sections: [], facts, remedies: { disk_cache: remedy } };
  },
});
