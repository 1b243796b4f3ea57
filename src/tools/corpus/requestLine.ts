/** `GET /data/61 HTTP/1.1` -> its method and its target. */
export const requestLine = (text: string): { method: string; url: string } | undefined => {
  const [method = "", url = "", version, ...more] = text.trim().split(" ", 4);
  const isOne = /^[A-Za-z]{3,10}$/.test(method) && url !== "" && more.length === 0;
  return isOne && (version === undefined || /^HTTP\/[\d.]{1,5}$/i.test(version)) ? { method, url } : undefined;
};

/** A status as logs have it, as a number or as text. */
export const statusOf = (value: unknown): { status?: number } => {
  const status = typeof value === "string" && /^[1-5]\d\d$/.test(value) ? Number(value) : value;
  return typeof status === "number" && Number.isInteger(status) && status >= 100 && status <= 599 ? { status } : {};
};
