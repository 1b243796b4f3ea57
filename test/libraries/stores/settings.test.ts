import { chmodSync } from "node:fs";
import { createClient } from "@redis/client";
import { expect, test } from "vitest";
import { errorsIn, fileWith, settingsIn, warningsIn } from "../../operation/settings/support.ts";

test.each([
  "redis://127.0.0.1:6379/x",
  "redis://127.0.0.1:6379/0/1",
  "redis://me:hush%zz@127.0.0.1:6379",
  "redis://hush%:41@127.0.0.1:6379",
  "redis://hush 127.0.0.1:6379",
  "redis://hush:x",
  "http://127.0.0.1:6379",
])("REDIS_URL=%s is refused, and not shown", (REDIS_URL) => {
  expect(errorsIn({ REDIS_URL })).toEqual([
    "REDIS_URL: (not shown) given in the environment; allowed is a URL such as redis://127.0.0.1:6379/0, a % in its password written %25",
  ]);
});

test.each(["redis://127.0.0.1", "rediss://me:a%25b@redis.example:6380/", "redis://:hush@[::1]:6379/15"])(
  "REDIS_URL=%s is accepted",
  (REDIS_URL) => {
    expect(settingsIn({ REDIS_URL })).toMatchObject({ REDIS_URL });
    expect(() => createClient({ url: REDIS_URL })).not.toThrow();
  },
);

test.each([
  ["redis://127.0.0.1:6379", 0],
  ["redis://gateway@127.0.0.1:6379/1", 0],
  ["redis://:hush@127.0.0.1:6379", 1],
  ["rediss://gateway:hush@redis.example", 1],
  ["${REDIS}:hush", 1],
])("a file that every user may read, with the Redis URL %s: %i warnings", (REDIS_URL, warnings) => {
  const CONFIG = fileWith(JSON.stringify({ REDIS_URL }));
  chmodSync(CONFIG, 0o644);
  // The environment wins.
  expect(warningsIn({ CONFIG, REDIS_URL: "redis://127.0.0.1:6379" })).toHaveLength(warnings);
});

test("the address of another server is a secret, also without a password", () => {
  const CONFIG = fileWith('{"WEBHOOK_URL": "https://hooks.example/12345"}');
  chmodSync(CONFIG, 0o644);
  expect(warningsIn({ CONFIG, WEBHOOK_SECRET: "a".repeat(32) })).toEqual([
    expect.stringContaining("which holds WEBHOOK_URL"),
  ]);
});
