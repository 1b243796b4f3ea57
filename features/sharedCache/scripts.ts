import type { Invalidation } from "../../src/gateway/index.ts";
import { channelPrefix } from "../../libraries/stores/redis.ts";

const PREFIX = "catalog-gateway:1:";

/** The key of the epoch, which changes with every invalidation. */
export const EPOCH = `${PREFIX}epoch`;
/** The key of the last epochs: a list. An epoch is in it if Redis holds nothing that was invalidated up to then. */
export const EPOCHS = `${PREFIX}epochs`;
/** The prefix of the keys of groups' versions. */
export const VERSIONS = `${PREFIX}v:`;
/** The key of the version of the group that holds all entries. */
export const EVERYTHING = `${VERSIONS}*`;
/** The name of an entry. Builds do not read each other's entries: an answer of another build may differ. */
export const entryName = (build: string, key: string): string => `${PREFIX}e:${build}:${key}`;

/** The channels of the gateways on one database of a Redis. */
export const channelsOf = (url: string) => {
  const prefix = channelPrefix(url);
  const acknowledgements = `${prefix}acks:`;
  return {
    invalidations: `${prefix}drops`,
    /** A gateway asks the others whether they have invalidations to send. */
    calls: `${prefix}calls`,
    /** A gateway receives acknowledgements, and answers to its calls. */
    acknowledgementsOf: (gateway: string): string => acknowledgements + gateway,
    /** The pattern of these channels. Such a channel exists while its gateway listens. */
    allAcknowledgements: `${acknowledgements}*`,
    /** The gateway of such a channel. */
    gatewayOf: (channel: string): string => channel.slice(acknowledgements.length),
  };
};

/** The number of epochs that Redis remembers: a gateway that has missed fewer can tell that Redis has lost none. */
const MAX_EPOCHS = 1000;

/**
 * True if a group's name is a single line. Groups are stored as lines: a name of two lines would be read as two
 * groups, and not be invalidated.
 */
export const isListable = (group: string): boolean => group !== "" && !group.includes("\n");

/** The keys that an invalidation deletes in Redis. */
export const namesOf = (build: string, { keys = [], groups = [], endpoint, all }: Invalidation): string[] => [
  ...keys.map((key) => entryName(build, key)),
  ...groups.map((group) => VERSIONS + group),
  ...(endpoint === undefined ? [] : [`${VERSIONS}@${endpoint}`]),
  ...(all ? [EVERYTHING] : []),
];

/**
 * An entry is a hash: `d` its bytes, `g` its groups, `v` the version that each group had. A group's version is a key of
 * its own, and an entry is valid only while every version exists and is the same. To invalidate a group is to delete
 * its version, which Redis does even when it is full.
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

  /**
   * KEYS: entry, epoch. ARGV: prefix of versions, mark, a new version, ms for versions, ms for the entry, bytes,
   * groups. -> 1 stored, 0 there was an invalidation since the mark
   */
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

  /**
   * KEYS: epoch, epochs, then all that is deleted. ARGV: channel, message, new epoch, epochs that
   * Redis knows from now on.
   * -> how many gateways receive the message
   */
  invalidate: `
    for i = 3, #KEYS do redis.call('DEL', KEYS[i]) end
    local set = redis.pcall('SET', KEYS[1], ARGV[3])
    if set.err then redis.call('DEL', KEYS[1]) end
    -- Where it is full, this epoch will be unknown.
    redis.pcall('LPUSH', KEYS[2], unpack(ARGV, 3))
    redis.call('LTRIM', KEYS[2], 0, ${MAX_EPOCHS - 1})
    return redis.call('PUBLISH', ARGV[1], ARGV[2])`,

  /**
   * KEYS: epoch, epochs. ARGV: the first epoch, the pattern of the channels of acknowledgements, epochs to look up.
   * -> the epoch, or nothing where Redis is full; the channels that exist; the epochs that it does not know
   *
   * PERSIST is a write that changes nothing: a Redis that refuses writes cannot invalidate.
   */
  heartbeat: `
    redis.call('PERSIST', KEYS[1])
    local epoch = redis.call('GET', KEYS[1])
    if not epoch and not redis.pcall('SET', KEYS[1], ARGV[1]).err then
      epoch = ARGV[1]
      redis.pcall('LPUSH', KEYS[2], epoch)
      redis.call('LTRIM', KEYS[2], 0, ${MAX_EPOCHS - 1})
    end
    local unknown = {}
    if #ARGV > 2 then
      local known = { [epoch or ''] = true }
      for _, one in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do known[one] = true end
      for i = 3, #ARGV do
        if not known[ARGV[i]] then unknown[#unknown + 1] = ARGV[i] end
      end
    end
    return { epoch, redis.call('PUBSUB', 'CHANNELS', ARGV[2]), unknown }`,
};
