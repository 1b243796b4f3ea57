import { globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { gunzipSync } from "node:zlib";
import { refusedAnswer, type SampleAnswer, scriptAnswer, send } from "../../tools/sampleLegacy/answers.ts";
import { httpUpstream } from "../gateway/proxy/support.ts";

/** Where Debian's `python3-sklearn` has what the catalogue answered to scikit-learn: `id_61/api-v1-jdf-61.json.gz`. */
const recordings = "/usr/lib/python3/dist-packages/sklearn/datasets/tests/data/openml";

/** The words that scikit-learn shortens in the names of its files, in its order. */
const shortened = Object.entries({
  "-json-data-list": "-jdl",
  "-json-data-features": "-jdf",
  "-json-data-qualities": "-jdq",
  "-json-data": "-jd",
  "-data_name": "-dn",
  "-download": "-dl",
  "-limit": "-l",
  "-data_version": "-dv",
  "-status": "-s",
  "-deactivated": "-dact",
  "-active": "-act",
});

/** A list as scikit-learn asks for it: the gateway sends filters in another order, and defaults. */
const asAsked = (path: string): string => {
  if (!path.includes("/data/list/")) return path;
  const filter = (name: string) => new RegExp(`/${name}/[^/]+`).exec(path)?.[0] ?? "";
  const [version, status] = [filter("data_version"), filter("status")];
  const shown = version !== "" && status === "/status/active" ? "" : status;
  return `/api/v1/json/data/list${filter("data_name")}${filter("limit")}${version}${shown}`;
};

/** The name of the file that answers this path, without its endings. */
const nameOf = (path: string): string =>
  shortened.reduce((name, [long, short]) => name.replace(long, short), asAsked(path).slice(1).replaceAll(/\W/g, "-"));

/**
 * Plays legacy with scikit-learn's recordings: a session with each answer, and errors as 412. `asked` has the paths of
 * all requests, without a slash at their end. With `state.isDown` it closes the connection of each.
 */
export const startRecordedLegacy = async () => {
  const recorded = new Map(
    globSync(`${recordings}/*/*.gz`).map((file) => [
      basename(file).replace(/-?\.(json|arff)\.gz$/, ""),
      gunzipSync(readFileSync(file)),
    ]),
  );
  const answerTo = (path: string): SampleAnswer => {
    // The recording of dataset 40981 is a copy of 292's. What says another id than was asked for is not stored.
    const body = recorded
      .get(nameOf(path))
      ?.toString()
      .replace(/("id": *)"292"/, `$1"${basename(path)}"`);
    if (body === undefined) return refusedAnswer({ error: path.includes("/list/") ? 372 : 111 }, "json");
    if (!path.startsWith("/data/")) return scriptAnswer("error" in JSON.parse(body) ? 412 : 200, "json", body);
    const file = scriptAnswer(200, "json", body);
    return { ...file, headers: { ...file.headers, "Content-Type": "text/plain" } };
  };
  const asked: string[] = [];
  const state = { isDown: false };
  const url = await httpUpstream((request, response) => {
    const path = (request.url ?? "").replace(/\/$/, "");
    asked.push(path);
    if (state.isDown) request.socket.destroy();
    else send(response, answerTo(path));
  });
  return { url, asked, state };
};
