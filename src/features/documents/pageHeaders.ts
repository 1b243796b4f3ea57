/** Headers of a page that people look at, flat. */
export const pageHeaders = (contentSecurityPolicy: string, link: string): string[] => [
  "Cache-Control",
  "no-cache",
  "Content-Security-Policy",
  contentSecurityPolicy,
  "Referrer-Policy",
  "no-referrer",
  "Cross-Origin-Opener-Policy",
  "same-origin",
  "Permissions-Policy",
  "camera=(), geolocation=(), microphone=()",
  "Link",
  link,
];
