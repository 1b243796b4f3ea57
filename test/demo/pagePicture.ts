import { hash } from "node:crypto";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { crc32 } from "node:zlib";
import { chromium } from "playwright-core";
import { programPath } from "../support/needs.ts";

const picture = new URL("../../docs/operators-page.png", import.meta.url);
const root = new URL("../..", import.meta.url).pathname;

/** The files that the page is made of: if their bytes change, it may look different. */
const pageSources = [
  "features/*/page*.ts",
  "features/*/{page,console}/**/*.{ts,css,js}",
  "libraries/ui/**/*.{ts,css,js}",
  "libraries/compare/difference.ts",
];

const versionOfPage = (): string => {
  const files = pageSources.flatMap((pattern) => globSync(pattern, { cwd: root })).toSorted();
  return hash("sha256", files.map((file) => readFileSync(root + file, "utf8")).join("\n"), "hex").slice(0, 16);
};

/** The name of the chunk that says which page a picture shows. */
const KEYWORD = "page\0";

/** The version of the page that a PNG shows; `undefined` where it does not say. */
const versionIn = (png: Buffer): string | undefined => {
  const at = png.indexOf(`tEXt${KEYWORD}`);
  return at === -1 ? undefined : png.toString("latin1", at + 4 + KEYWORD.length, at + 4 + png.readUInt32BE(at - 4));
};

/** The same PNG with a text behind its header (signature and IHDR: 33 bytes). */
const withVersion = (png: Buffer, version: string): Buffer => {
  const chunk = Buffer.from(`tEXt${KEYWORD}${version}`, "latin1");
  const around = Buffer.alloc(8);
  around.writeUInt32BE(chunk.length - 4, 0);
  around.writeUInt32BE(crc32(chunk), 4);
  return Buffer.concat([png.subarray(0, 33), around.subarray(0, 4), chunk, around.subarray(4), png.subarray(33)]);
};

/** True if README's picture shows another version of the page. */
export const isPictureOutdated = (): boolean => versionIn(readFileSync(picture)) !== versionOfPage();

/** Takes README's picture of this page. */
export const takePicture = async (url: string): Promise<void> => {
  const browser = await chromium.launch({ executablePath: programPath("chromium") ?? "", args: ["--no-sandbox"] });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 1000 }, colorScheme: "light" });
    await page.goto(url);
    writeFileSync(picture, withVersion(await page.screenshot(), versionOfPage()));
  } finally {
    await browser.close();
  }
};
