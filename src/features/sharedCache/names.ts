import type { Entry } from "../../cache/entry.ts";
import type { Invalidation } from "../../cache/sharedTier.ts";

const PREFIX = "catalog-gateway:1:";

/** Where Redis has what: another value with every drop, the channel that tells of them, what is kept, and the versions of groups. */
export const EPOCH = `${PREFIX}epoch`;
export const CHANNEL = `${PREFIX}drops`;
export const VERSIONS = `${PREFIX}v:`;
export const EVERYTHING = `${VERSIONS}*`;
/** Of what belongs to the migration: it is no cache, and stays when everything is dropped. */
export const MIGRATION = `${PREFIX}migration:`;
/** Of what is known of private rows: it can be found anew, but that takes long. */
export const PRIVATE = `${PREFIX}private:`;
/** Builds do not read each other's entries: an answer of another build may differ. */
export const entryName = (build: string, key: string): string => `${PREFIX}e:${build}:${key}`;
export const acksOf = (gateway: string): string => `${PREFIX}acks:${gateway}`;

/** All that an entry can be dropped by, but its key. */
export const groupsFor = ({ groups, endpoint }: Entry): string[] => [...groups, `@${endpoint}`, "*"];

/** A list of groups is their lines: one that is no line would be read as others, and never be dropped. */
export const isListable = (group: string): boolean => group !== "" && !group.includes("\n");

/** What is deleted in Redis for a drop. */
export const namesOf = (build: string, { keys = [], groups = [], endpoint, all }: Invalidation): string[] => [
  ...keys.map((key) => entryName(build, key)),
  ...groups.map((group) => VERSIONS + group),
  ...(endpoint === undefined ? [] : [`${VERSIONS}@${endpoint}`]),
  ...(all ? [EVERYTHING] : []),
];
