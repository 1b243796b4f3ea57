/** What a client requests of the new interface, below its prefix. `json` is sent as JSON, `text` as it stands. */
export type FixtureAsk = {
  method: "GET" | "POST" | "HEAD";
  path: string;
  key?: string;
  query?: string;
  json?: unknown;
  text?: string;
  type?: string;
};

/** What legacy is asked, below `/api/v1`, and what it answers. */
export type Exchange = {
  request: { method: "GET" | "POST"; path: string; key?: string; form?: Record<string, string> };
  response: { status: number; type: "json" | "xml" | "html"; body: string };
};
