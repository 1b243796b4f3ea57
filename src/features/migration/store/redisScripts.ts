import { MIGRATION } from "../../sharedCache/names.ts";
import { script } from "../../sharedCache/scripts.ts";
import { MOST_MOVES } from "./nextState.ts";

/** Told after every change. */
export const CHANGES = `${MIGRATION}changes`;

/** A text `12.uuid` of the last change's number and name; hashes of JSON by endpoint and by id; a list of JSON, the newest first. */
export const migrationKeys = ["version", "stages", "audit", "expected"].map((name) => MIGRATION + name);

/** The sizes are in it because Redis may lose one key and not the others. */
const fingerprint = `
    local function fingerprint()
      return table.concat({ redis.call('GET', KEYS[1]) or '', redis.call('HLEN', KEYS[2]), redis.call('LLEN', KEYS[3]),
        redis.call('HLEN', KEYS[4]) }, ' ')
    end`;

export const migrationScripts = {
  /** ARGV: the fingerprint of what is known. -> nothing where it is still so, else all there is */
  read: script(`${fingerprint}
    local now = fingerprint()
    if now == ARGV[1] then return false end
    return { now, redis.call('HGETALL', KEYS[2]), redis.call('LRANGE', KEYS[3], 0, -1), redis.call('HGETALL', KEYS[4]) }`),

  /**
   * ARGV: fingerprint of what it was made from, version, channel, `anew` or `more` for the audit log, how many stages, how many expected,
   * their fields and values, lines of the log from the oldest to the newest. -> the new fingerprint, or nothing where something changed meanwhile
   */
  change: script(`${fingerprint}
    if fingerprint() ~= ARGV[1] then return false end
    -- First what a full Redis refuses: after any other write of a script it refuses nothing.
    redis.call('SET', KEYS[1], ARGV[2])
    local at = 7
    for _ = 1, tonumber(ARGV[5]) do
      redis.call('HSET', KEYS[2], ARGV[at], ARGV[at + 1])
      at = at + 2
    end
    for _ = 1, tonumber(ARGV[6]) do
      redis.call('HSET', KEYS[4], ARGV[at], ARGV[at + 1])
      at = at + 2
    end
    if ARGV[4] == 'anew' then redis.call('DEL', KEYS[3]) end
    for i = at, #ARGV do redis.call('LPUSH', KEYS[3], ARGV[i]) end
    redis.call('LTRIM', KEYS[3], 0, ${MOST_MOVES - 1})
    redis.call('PUBLISH', ARGV[3], ARGV[2])
    return fingerprint()`),
};
