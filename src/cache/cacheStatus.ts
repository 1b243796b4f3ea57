/** How an answer came about, in the words of RFC 9211. */
export type How = {
  /** It was kept, and nobody else was asked. */
  hit?: true;
  /** Why legacy was asked. */
  fwd?: "uri-miss" | "stale" | "request" | "method" | "bypass";
  /** Another request for the same was on its way, and this one waited for it. */
  collapsed?: true;
  stored?: boolean;
  detail?: string;
};

const NAME = "catalog-gateway";

/** `catalog-gateway; hit; ttl=599`; `ttl` in seconds, below zero where stale. */
export const cacheStatus = ({ hit, fwd, collapsed, stored, detail }: How, ttl: number | undefined): string =>
  [
    NAME,
    ...(hit ? ["hit"] : []),
    ...(fwd === undefined ? [] : [`fwd=${fwd}`]),
    ...(stored ? ["stored"] : []),
    ...(collapsed ? ["collapsed"] : []),
    ...(ttl === undefined ? [] : [`ttl=${ttl}`]),
    ...(detail === undefined ? [] : [`detail=${detail}`]),
  ].join("; ");
