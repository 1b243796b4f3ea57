import { expect, test } from "vitest";
import { gatewayFor } from "../../../support/gateway.ts";
import { operatorsOf } from "./operators.ts";

type Headers = Record<string, string>;

test.each<[title: string, path: string, headers: Headers, answer: [number, isForm: boolean], method?: string]>([
  ["GET / without the token is answered with a form", "/", {}, [401, true]],
  ["GET / with a wrong token is answered with a form", "/", { Authorization: "Bearer wrong" }, [401, true]],
  ["GET / with the token is answered with the page", "/", { Authorization: "Bearer right" }, [200, false]],
  ["GET / under a foreign name is refused without a form", "/", { Host: "evil.example:18000" }, [403, false]],
  ["another path without the token is refused without a form", "/cache", {}, [401, false]],
  ["the path // without the token is refused without a form", "//", {}, [401, false]],
  [
    "a form that is sent to / is refused without a form",
    "/",
    { "Content-Type": "application/x-www-form-urlencoded" },
    [401, false],
    "POST",
  ],
])("%s", async (_, path, sent, [status, isForm], method = "GET") => {
  const { app } = await operatorsOf({ gateway: await gatewayFor("http://127.0.0.1:1") }, { token: "right" });
  const answer = await app.request(path, { method, headers: { Host: "127.0.0.1:18000", ...sent } });
  const text = await answer.text();
  expect([answer.status, text.includes(`id="sign-in"`), text.includes("getDataset")]).toEqual([
    status,
    isForm,
    status === 200,
  ]);
  const headers = ["content-type", "cache-control", "content-security-policy", "www-authenticate"];
  expect(headers.map((name) => answer.headers.get(name)?.split(/[ ;]/)[0])).toEqual([
    status === 200 || isForm ? "text/html" : "application/json",
    "no-store",
    status === 200 || isForm ? "default-src" : undefined,
    status === 401 ? "Bearer" : undefined,
  ]);
});
