/* Requests to the gateway that served this page, with the token if there is one. */
import { adminToken } from "./remembered.js";

/** `timeout`: milliseconds. */
const request = (path, timeout, { headers, ...init } = {}) => {
  const authorization = adminToken.get() === "" ? {} : { Authorization: `Bearer ${adminToken.get()}` };
  const signal = AbortSignal.timeout(timeout);
  return fetch(path, { ...init, headers: { ...headers, ...authorization }, redirect: "error", signal });
};

/**
 * The page as it is now, with the content that its address asks for, as a new document; `undefined` if a
 * token is missing or wrong.
 */
export const requestPage = async () => {
  const init = { headers: { Accept: "text/html" }, cache: "no-store" };
  const answer = await request(`/${location.search}`, 10_000, init);
  if (answer.status === 401) return undefined;
  if (!answer.ok) throw new Error(`The gateway answered ${answer.status}.`);
  return new DOMParser().parseFromString(await answer.text(), "text/html");
};

/**
 * Sends a change, and returns the answer; throws the sentence in which the gateway refuses it, with the evidence
 * against it.
 */
export const requestChange = async (path, json) => {
  const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(json) };
  const answer = await request(path, 20_000, init).catch(() => {
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
  const answer = await request(path, 20_000);
  if (!answer.ok) throw new Error(`The gateway answered ${answer.status}.`);
  return answer.blob();
};
