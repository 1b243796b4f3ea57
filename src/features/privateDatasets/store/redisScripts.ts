import { PRIVATE } from "../../sharedCache/names.ts";
import { script } from "../../sharedCache/scripts.ts";

/** Where Redis has what, for one legacy: gateways before another one share nothing with those before this one. */
export type PrivateNames = {
  /** Told after every change: the version before it, the version after it, what it was. And anything when the one who walks lets go. */
  changes: string;
  /** A text `12.5000.uuid`: the last change's number, how many rows there are since, its name. A hash of JSON by id. A text of JSON. */
  keys: string[];
  /** The id of the instance that walks, for as long as that lasts. */
  walker: string;
};

export const privateNames = (scope: string): PrivateNames => {
  const named = (name: string) => `${PRIVATE}${scope}:${name}`;
  return { changes: named("changes"), keys: ["version", "rows", "walk"].map(named), walker: named("walker") };
};

/** The sizes are looked at because Redis may lose one key and not the others: then it has lost all of it. */
const version = `
    local function version()
      local kept = redis.call('GET', KEYS[1]) or ''
      local size = tonumber(kept:match('^%d+%.(%d+)%.'))
      if size ~= redis.call('HLEN', KEYS[2]) or redis.call('STRLEN', KEYS[3]) == 0 then return '' end
      return kept
    end`;

export const privateScripts = {
  /** ARGV: the version that is known. -> the version; where that is another one, all there is as well */
  read: script(`${version}
    local now = version()
    if now == '' or now == ARGV[1] then return { now } end
    return { now, redis.call('GET', KEYS[3]), redis.call('HGETALL', KEYS[2]) }`),

  /** ARGV: ids. -> how far the walk is; id and row by turns, nothing for a row that is not there */
  some: script(`
    local rows = {}
    for i, id in ipairs(ARGV) do
      rows[2 * i - 1] = id
      rows[2 * i] = redis.call('HGET', KEYS[2], id)
    end
    return { redis.call('GET', KEYS[3]), rows }`),

  /**
   * ARGV: name, channel, what the message says of it, \`anew\` or \`more\`, the number that is known, the walk or an empty text, how many
   * rows, their ids and values, ids of those that are gone. -> the version before and after; nothing where there is none to add more to
   */
  change: script(`${version}
    local isAnew = ARGV[4] == 'anew'
    local before = not isAnew and version() or ''
    if before == '' and not isAnew then return false end
    -- First what a full Redis refuses: after any other write of a script it refuses nothing.
    if ARGV[6] ~= '' then redis.call('SET', KEYS[3], ARGV[6]) end
    if isAnew then redis.call('DEL', KEYS[2]) end
    local at = 8
    for _ = 1, tonumber(ARGV[7]) do
      redis.call('HSET', KEYS[2], ARGV[at], ARGV[at + 1])
      at = at + 2
    end
    for i = at, #ARGV do redis.call('HDEL', KEYS[2], ARGV[i]) end
    local number = math.max(tonumber(ARGV[5]), tonumber(before:match('^%d+')) or 0) + 1
    local after = table.concat({ number, redis.call('HLEN', KEYS[2]), ARGV[1] }, '.')
    redis.call('SET', KEYS[1], after)
    redis.call('PUBLISH', ARGV[2], table.concat({ '["', before, '","', after, '",', ARGV[3], ']' }))
    return { before, after }`),
};

export const walkerScripts = {
  /** KEYS: walker. ARGV: instance, milliseconds. -> 1 where it is this instance now */
  hold: script(`
    local owner = redis.call('GET', KEYS[1])
    if owner and owner ~= ARGV[1] then return 0 end
    redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
    return 1`),

  /** KEYS: walker. ARGV: instance, channel */
  letGo: script(`
    if redis.call('GET', KEYS[1]) ~= ARGV[1] then return end
    redis.call('DEL', KEYS[1])
    redis.call('PUBLISH', ARGV[2], 'free')`),
};
