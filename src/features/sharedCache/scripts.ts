import type { Entry } from "../../gateway/cache/entry.ts";
import type { Invalidation } from "../../gateway/cache/sharedTier.ts";

const PREFIX = "catalog-gateway:1:";

/** The key of the epoch, which changes with every invalidation. */
export const EPOCH = `${PREFIX}epoch`;
/** The channel of invalidations. */
export const CHANNEL = `${PREFIX}drops`;
/** The prefix of the keys of groups' versions. */
export const VERSIONS = `${PREFIX}v:`;
/** The key of the version of the group that holds all entries. */
export const EVERYTHING = `${VERSIONS}*`;
/** The name of an entry. Builds do not read each other's entries: an answer of another build may differ. */
export const entryName = (build: string, key: string): string => `${PREFIX}e:${build}:${key}`;
/** The channel on which a gateway receives acknowledgements. */
export const acknowledgementsOf = (gateway: string): string => `${PREFIX}acks:${gateway}`;

/** All groups by which an entry can be invalidated. */
export const groupsFor = ({ groups, endpoint }: Entry): string[] => [...groups, `@${endpoint}`, "*"];

/** Whether a group's name is one line. Groups are stored as lines: a name of two lines would be read as two groups, and not be invalidated. */
export const isListable = (group: string): boolean => group !== "" && !group.includes("\n");

/** The keys that an invalidation deletes in Redis. */
export const namesOf = (build: string, { keys = [], groups = [], endpoint, all }: Invalidation): string[] => [
  ...keys.map((key) => entryName(build, key)),
  ...groups.map((group) => VERSIONS + group),
  ...(endpoint === undefined ? [] : [`${VERSIONS}@${endpoint}`]),
  ...(all ? [EVERYTHING] : []),
];

/**
 * An entry is a hash: `d` its bytes, `g` its groups, `v` the version that each group had. A group's version is a key of its own, and an entry
 * is valid only while every version exists and is the same. To invalidate a group is to delete its version, which Redis does even when it is
 * full.
 */
export const scripts = {
  /** KEYS: entry. ARGV: prefix of versions. -> bytes, or nothing */
  get: `
    local entry = redis.call('HMGET', KEYS[1], 'd', 'g', 'v')
    if not entry[1] then return false end
    local versions = {}
    for version in string.gmatch(entry[3], '[^\\n]+') do versions[#versions + 1] = version end
    local i = 0
    for group in string.gmatch(entry[2], '[^\\n]+') do
      i = i + 1
      if redis.call('GET', ARGV[1] .. group) ~= versions[i] then
        redis.call('DEL', KEYS[1])
        return false
      end
    end
    return entry[1]`,

  /** KEYS: entry, epoch. ARGV: prefix of versions, mark, a new version, ms for versions, ms for the entry, bytes, groups. -> 1 stored, 0 there was an invalidation since the mark */
  set: `
    if redis.call('GET', KEYS[2]) ~= ARGV[2] then return 0 end
    local names = {}
    local versions = {}
    for group in string.gmatch(ARGV[7], '[^\\n]+') do
      names[#names + 1] = ARGV[1] .. group
      versions[#versions + 1] = redis.call('GET', ARGV[1] .. group) or ARGV[3]
    end
    -- First what a full Redis refuses: after any other write of a script it refuses nothing.
    redis.call('HSET', KEYS[1], 'd', ARGV[6], 'g', ARGV[7], 'v', table.concat(versions, '\\n'))
    redis.call('PEXPIRE', KEYS[1], ARGV[5])
    for i, name in ipairs(names) do redis.call('SET', name, versions[i], 'PX', ARGV[4]) end
    return 1`,

  /** KEYS: epoch, then all that is deleted. ARGV: channel, message, new epoch. -> how many gateways receive the message */
  invalidate: `
    for i = 2, #KEYS do redis.call('DEL', KEYS[i]) end
    local set = redis.pcall('SET', KEYS[1], ARGV[3])
    if set.err then redis.call('DEL', KEYS[1]) end
    return redis.call('PUBLISH', ARGV[1], ARGV[2])`,

  /**
   * KEYS: epoch. ARGV: the first one. -> the epoch, or nothing where Redis is full
   *
   * PERSIST is a write that changes nothing: a Redis that refuses writes cannot invalidate.
   */
  epoch: `
    redis.call('PERSIST', KEYS[1])
    local epoch = redis.call('GET', KEYS[1])
    if epoch then return epoch end
    local set = redis.pcall('SET', KEYS[1], ARGV[1])
    if set.err then return false end
    return ARGV[1]`,
};
