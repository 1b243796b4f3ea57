import { X509Certificate } from "node:crypto";
import { readText } from "./readText.ts";

/** Bytes of a file with certificates at most. */
const MAX_BYTES = 1024 ** 2;

/**
 * The certificates (PEM) in the file that a setting names; `undefined` without one.
 *
 * @throws An Error that names the setting, if the file cannot be read or has none.
 */
export const readCertificates = (setting: string, path: string | undefined): { ca?: string } => {
  if (path === undefined) return {};
  const read = readText(path, MAX_BYTES);
  const why = "why" in read ? `cannot be read (${read.why})` : whyUnusable(read.text);
  if (why !== undefined)
    throw new Error(`${setting}: ${path} ${why}; allowed is the path of a file with certificates (PEM)`);
  return "text" in read ? { ca: read.text } : {};
};

const whyUnusable = (text: string): string | undefined => {
  const certificates = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (certificates.length === 0) return "has no certificate in it";
  try {
    for (const certificate of certificates) void new X509Certificate(certificate);
    return undefined;
  } catch {
    return "has a certificate in it that cannot be read";
  }
};
