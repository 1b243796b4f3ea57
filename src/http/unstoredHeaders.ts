/** The flat headers of a whole answer that no cache may store. `length`: bytes of its body. */
export const unstoredHeaders = (type: string, length: number): string[] => [
  "Content-Type",
  type,
  "Content-Length",
  String(length),
  "Cache-Control",
  "no-store",
];
