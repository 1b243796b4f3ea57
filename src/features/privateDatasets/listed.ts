import { type Bits, bitsOf } from "./bits.ts";
import type { Insist } from "./insist.ts";
import type { PrivateRowsKnowledge } from "../../endpoint/privateRows.ts";
import { listedPage, type Looking } from "./look.ts";
import { MOST } from "./rows.ts";

/** Rows of a list that are asked for at once: whole ones, so this bounds memory, and how long nothing else is done. */
const PAGE = 200;
/**
 * Rows that nobody can read are searched for, so many. After that their whole pages are left out, so many again, and the rows on them are
 * looked at one by one, as all ids that are not listed. Where there are more, legacy fails.
 */
const MOST_SPOILT = 20;
const MOST_SPOILT_PAGES = 200;

/** The ids that anybody is listed, and the highest of them. */
export type Listed = { ids: Bits; highest: number };

type ListingSettings = {
  knowledge: PrivateRowsKnowledge;
  looking: Looking;
  insist: Insist;
  /** Told of where it is. */
  at: (offset: number) => void;
};

/** Asks for all that anybody is listed; `undefined` where that is over before its end. */
export const listAll = async ({ knowledge, looking, insist, at }: ListingSettings): Promise<Listed | undefined> => {
  const ids = bitsOf();
  let highest = 0;
  let spoilt = 0;

  /** How many rows a page had. One row that legacy cannot write down spoils a whole page: without it the others are read. */
  const read = async (offset: number, limit: number): Promise<number | undefined> => {
    at(offset);
    const page = await insist(async () => {
      const heard = await listedPage(knowledge, { offset, limit }, looking);
      const isLeftOut = "failed" in heard && heard.isSpoilt === true && spoilt < MOST_SPOILT + MOST_SPOILT_PAGES;
      return isLeftOut ? { isSpoilt: true as const } : heard;
    });
    if (page === undefined || "failed" in page) return undefined;
    if ("ids" in page) {
      for (const id of page.ids.filter((one) => one >= 1 && one <= MOST)) {
        ids.add(id);
        highest = Math.max(highest, id);
      }
      return page.ids.length;
    }
    if (limit === 1 || spoilt >= MOST_SPOILT) {
      spoilt++;
      return limit;
    }
    const half = limit >> 1;
    const first = await read(offset, half);
    if (first === undefined || first < half) return first;
    const second = await read(offset + half, limit - half);
    return second && first + second;
  };

  for (let offset = 0; ; offset += PAGE) {
    const count = await read(offset, PAGE);
    if (count === undefined) return undefined;
    // Where nothing could be read there is no telling how much there is.
    if (count < PAGE) return highest === 0 && spoilt > 0 ? undefined : { ids, highest };
  }
};
