/** A Markdown text without its fenced blocks of code. */
const withoutCode = (markdown: string): string => markdown.replace(/^```[^]*?^```$/gm, "");

/** The links of a Markdown text to other files (with `path` "": to itself), without links to the web. */
export const relativeLinks = (markdown: string): { path: string; anchor?: string }[] =>
  [...withoutCode(markdown).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => target as string)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path = "", anchor] = target.split("#", 2);
      return anchor === undefined ? { path } : { path, anchor };
    });

/** The anchors of a Markdown text's headings, as GitHub makes them: `## Who sees them?` -> `who-sees-them`. */
export const anchorsOf = (markdown: string): string[] =>
  [...withoutCode(markdown).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    (heading as string)
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );

/**
 * The content of a fenced `console` block: each command (after `$ `, continued while a line ends with a
 * backslash) and its output.
 */
export const consoleCommands = (markdown: string): { command: string; output: string }[] =>
  [...markdown.matchAll(/^```console\n([^]*?)^```$/gm)].flatMap(([, block]) =>
    (block as string)
      .split(/^\$ /m)
      .slice(1)
      .map((text) => {
        const [, command = "", output = ""] = /^((?:.*\\\n)*.*\n)([^]*)$/.exec(text) ?? [];
        return { command: command.trim(), output: output.trim() };
      }),
  );
