import { hash } from "node:crypto";

/** A Lua script, and the name Redis knows it by where it is not sent whole each time. */
export type Script = { text: string; sha?: string };

/** Sent by its name wherever Redis knows it. */
export const script = (text: string): Script => ({ text, sha: hash("sha1", text) });

/**
 * What is kept is a hash: `d` its bytes, `g` its groups, `v` the version that each group had. A group's version is a key of its own, and
 * an entry counts only while every version is there and the same: to drop a group is to delete its version, which Redis does even when it
 * is full.
 */
export const scripts = {
  /** KEYS: entry. ARGV: prefix of versions. -> bytes or nothing */
  get: script(`
    local kept = redis.call('HMGET', KEYS[1], 'd', 'g', 'v')
    if not kept[1] then return false end
    local versions = {}
    for version in string.gmatch(kept[3], '[^\\n]+') do versions[#versions + 1] = version end
    local i = 0
    for group in string.gmatch(kept[2], '[^\\n]+') do
      i = i + 1
      if redis.call('GET', ARGV[1] .. group) ~= versions[i] then
        redis.call('DEL', KEYS[1])
        return false
      end
    end
    return kept[1]`),

  /** KEYS: entry, epoch. ARGV: prefix of versions, mark, a new version, ms for versions, ms for the entry, bytes, groups. -> 1 kept, 0 something was dropped since the mark */
  set: script(`
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
    return 1`),

  /**
   * KEYS: epoch, all that is deleted. ARGV: channel, message, the new epoch. -> how many have got the message
   *
   * Sent whole: were it sent again because Redis does not know its name, a get behind it would come before it and find what it drops.
   */
  drop: {
    text: `
    for i = 2, #KEYS do redis.call('DEL', KEYS[i]) end
    local set = redis.pcall('SET', KEYS[1], ARGV[3])
    if set.err then redis.call('DEL', KEYS[1]) end
    return redis.call('PUBLISH', ARGV[1], ARGV[2])`,
  },

  /** KEYS: epoch. ARGV: one to begin with. -> the epoch, or nothing where Redis is full */
  beat: script(`
    local epoch = redis.call('GET', KEYS[1])
    if epoch then return epoch end
    local set = redis.pcall('SET', KEYS[1], ARGV[1])
    if set.err then return false end
    return ARGV[1]`),
};
