import { z } from "zod";
import { readAs } from "../../sharedCache/texts.ts";

/** What instances tell one another of a change: whose it is, the rows, and whether the walk got further. */
export type About = { by: string; ids: number[]; walk: boolean };

/** The version before a change, the version after it. */
export type Message = [before: string, after: string, about: About];

// Strict: what another version means by more than this is not guessed at.
const schema: z.ZodType<Message> = z.tuple([
  z.string(),
  z.string(),
  z.strictObject({ by: z.string(), ids: z.array(z.int()), walk: z.boolean() }),
]);

export const messageFrom = (text: string): Message | undefined => readAs(schema, text);

/** What a version begins with. */
export const numberOf = (version: string): number => Number.parseInt(version, 10) || 0;

/** Where messages lead from a version, and what others have changed on the way; `isMissed`: there is more that they do not tell. */
export type News = { version: string; ids: number[]; walk: boolean; isMissed: boolean };

export const follow = (version: string, messages: readonly (Message | undefined)[], self: string): News => {
  const ids = new Set<number>();
  const news = { version, walk: false, isMissed: false };
  for (const message of messages) {
    const [before = "", after = "", about] = message ?? [];
    if (about === undefined) news.isMissed = true;
    else if (before === "" || before !== news.version) news.isMissed ||= numberOf(after) > numberOf(news.version);
    else {
      news.version = after;
      if (about.by === self) continue;
      news.walk ||= about.walk;
      for (const id of about.ids) ids.add(id);
    }
  }
  return { ...news, ids: [...ids] };
};
