import { script } from "./script.ts";

/** Where Redis has the values below a prefix, and the channel on which every change is announced. */
export const recordKeys = (prefix: string) => ({
  /**
   * A hash of JSON by key: `{ version, value }`, without a value for one that was deleted; and the last changes, the newest first, each as
   * lines: the version after it, then the keys that it changed.
   */
  data: [`${prefix}records`, `${prefix}log`],
  changes: `${prefix}changes`,
  lease: `${prefix}lease`,
});

/** A gateway that has missed more changes reads everything. */
const MAX_LOG = 100;

/**
 * The version is a text `12.5000.uuid`: the highest number of a change, how many records there are, and a name. Where the number of records
 * is another one Redis has lost some of them, and the whole has no version.
 */
const version = `
    local function version()
      local newest = redis.call('LINDEX', KEYS[2], 0) or ''
      local found, size = newest:match('^(%d+%.(%d+)%.[^\\n]+)')
      if tonumber(size) ~= redis.call('HLEN', KEYS[1]) then return '' end
      return found
    end`;

/** KEYS of both: `recordKeys(...).data`. */
export const recordScripts = {
  /** ARGV: the version that is known, or "". -> nothing if it is still so, else the version, `all` or `some`, keys and records by turns */
  read: script(`${version}
    local now = version()
    if now ~= '' and now == ARGV[1] then return false end
    local seen, some = {}, {}
    for _, entry in ipairs(now ~= '' and ARGV[1] ~= '' and redis.call('LRANGE', KEYS[2], 0, -1) or {}) do
      local isVersion = true
      for line in entry:gmatch('[^\\n]+') do
        if isVersion and line == ARGV[1] then return { now, 'some', some } end
        if not isVersion and not seen[line] then
          seen[line] = true
          some[#some + 1] = line
          some[#some + 1] = redis.call('HGET', KEYS[1], line)
        end
        isVersion = false
      end
    end
    return { now, 'all', redis.call('HGETALL', KEYS[1]) }`),

  /** ARGV: the version that was read, channel, number, name, keys and records by turns. -> the new version, or nothing if it is another one by now */
  write: script(`${version}
    local before = version()
    if before ~= ARGV[1] then return false end
    local keys = {}
    for i = 5, #ARGV, 2 do
      redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
      keys[#keys + 1] = ARGV[i]
    end
    local after = table.concat({ ARGV[3], redis.call('HLEN', KEYS[1]), ARGV[4] }, '.')
    -- What led to a torn state says nothing of what was lost.
    if before == '' then redis.call('DEL', KEYS[2]) end
    redis.call('LPUSH', KEYS[2], table.concat({ after, unpack(keys) }, '\\n'))
    redis.call('LTRIM', KEYS[2], 0, ${MAX_LOG - 1})
    redis.call('PUBLISH', ARGV[2], after)
    return after`),

  /** A write that changes nothing: fails where Redis refuses writes. */
  touch: script("return redis.call('PERSIST', KEYS[1])"),

  /** Deletes everything. */
  clear: script("return redis.call('DEL', KEYS[1], KEYS[2])"),
};
