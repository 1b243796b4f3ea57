import fc from "fast-check";
import { anyText } from "./anyText.ts";

/** Texts that have broken out of a format before: HTML, Markdown, XML, a shell's line or a terminal. */
export const hostileTexts = [
  "</script>",
  "<!--",
  "--><script>alert(1)</script>",
  "</noscript>",
  "</style>",
  "]]>",
  "<![CDATA[",
  "&amp;&#0;",
  "`",
  "```\n```",
  "``|``",
  "\\|",
  "a | b",
  "\r\n| --- |",
  "</details>",
  "<b>x",
  "@someone #1",
  " ",
  "",
  "\u0000\u0001\u001b[31m",
  "\u2028",
  "\u202e",
  "\uFFFE",
  "\uD800",
  "\uDC00x",
  '"onload="x',
  "'",
  "__proto__",
];

/** Characters that could drive a terminal, or make one line look like two. */
export const terminalControls = /[\p{Cc}\p{Cf}]/u;

/** Any text; every second text is hostile. */
export const hostileText = fc.oneof(
  fc.constantFrom(...hostileTexts),
  fc.tuple(anyText(), fc.constantFrom(...hostileTexts), anyText()).map((parts) => parts.join("")),
);
