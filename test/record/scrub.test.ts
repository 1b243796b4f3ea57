import { check, constantFrom, oneof, property, record, string, stringMatching, tuple } from "fast-check";
import { array, assert, dictionary, jsonValue } from "fast-check";
import { XMLValidator } from "fast-xml-parser";
import { describe, expect, test } from "vitest";
import { LAB_KEY, scrubber } from "../../src/record/scrub.ts";
void check;
void oneof;
void record;
void string;
void tuple;
void array;
void assert;
void dictionary;
void jsonValue;
void XMLValidator;
void constantFrom;
void property;
void stringMatching;
const key = "aBcD0123456789aBcD0123456789aBcD";
const { text } = scrubber([key]);
describe("x", () => {
  test.each([[`?a=1&api_key=secret1&b=2`, `?a=1&api_key=${LAB_KEY}&b=2`]])("%s", (before, after) => {
    expect(text(before)).toBe(after);
  });
});
