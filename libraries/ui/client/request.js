/* Requests to the gateway that served this page, with the token where there is one. */
import { adminToken } from "./remembered.js";

const authorization = () => (adminToken.get() === "" ? {} : { Authorization: `Bearer ${adminToken.get()}` });

/**
 * The page as it is now, with what its address asks for, as a document of its own; `undefined` where a
 * token is missing or wrong.
 */
export const requestPage = async () => {
  const answer = await fetch(`/${location.search}`, {
    headers: { Accept: "text/html", ...authorization() },
    cache: "no-store",
    redirect: "error",
    signal: AbortSignal.timeout(10_000),
  });
  if (answer.status === 401) return undefined;
  if (!answer.ok) throw new Error(`The gateway answered ${answer.status}.`);
  return new DOMParser().parseFromString(await answer.text(), "text/html");
};

/**
 * Sends a change, and gives what was answered; throws the sentence in which the gateway refuses it, with the evidence
 * that speaks against it.
 */
export const requestChange = async (path, json) => {
  const answer = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...authorization() },
    body: JSON.stringify(json),
    redirect: "error",
    signal: AbortSignal.timeout(20_000),
  }).catch(() => {
    throw new Error("The gateway did not answer, so it is not known whether this was done.");
  });
  const answered = await answer.json().catch(() => ({}));
  if (answer.ok) return answered;
  const { detail, evidence } = answered;
  const sentence = typeof detail === "string" ? detail : `The gateway answered ${answer.status}.`;
  throw Object.assign(new Error(sentence), { evidence });
};

/** The content of a file of the gateway; throws a sentence if it cannot be had. */
export const requestFile = async (path) => {
  const answer = await fetch(path, {
    headers: authorization(),
    redirect: "error",
    signal: AbortSignal.timeout(20_000),
  });
  if (!answer.ok) throw new Error(`The gateway answered ${answer.status}.`);
  return answer.blob();
};
