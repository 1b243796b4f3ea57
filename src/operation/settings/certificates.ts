import { X509Certificate } from "node:crypto";
import { fields, type ReadFile } from "./fields.ts";

const readCertificates = (pem: string): ReadFile<string> => {
  const certificates = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (certificates.length === 0) return { errors: ["it has no certificate in it"] };
  try {
    for (const certificate of certificates) void new X509Certificate(certificate);
    return { value: pem };
  } catch {
    return { errors: ["it has a certificate in it that cannot be read"] };
  }
};

/** The path of a file with certificates (PEM) of authorities; the value is its text. */
export const certificates = fields.file("the path of a file with certificates (PEM)", readCertificates);

/** The error of a setting that names authorities although its URL has no TLS; empty without an error. */
export const unusedCertificates = (
  name: string,
  ca: string | undefined,
  urlName: string,
  url: string | undefined,
): string[] =>
  ca === undefined || url?.startsWith("http:") !== true
    ? []
    : [`${name}: given with ${urlName} ${url}, which has no certificate; allowed is an https URL, or no ${name}`];
