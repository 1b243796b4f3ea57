import { expect, test } from "vitest";
import { recordingUpstream } from "../http/support.ts";
import { gatewayFor } from "../../support/gateway.ts";

const key = "00000000000000000000000000000000";

test("a document is uploaded as a file beside the key, which is in no URL", async () => {
  const { url, seen } = await recordingUpstream(() => ({ body: '{"study_upload":{"id":"22"}}' }));
  const { app } = await gatewayFor(url);
  const answer = await app.request("/v1/studies", {
    method: "POST",
    headers: { "X-API-Key": key, "Content-Type": "application/json" },
    body: JSON.stringify({ name: "a\r\n--x", main_entity_type: "task", description: '>"' }),
  });
  expect([answer.status, await answer.json()]).toEqual([200, { study_id: 22 }]);
  expect(seen.map(({ method, target }) => `${method} ${target}`)).toEqual(["POST /api/v1/json/study"]);
  const [{ headers, body }] = seen as [(typeof seen)[number]];
  const type = String(headers["content-type"]);
  expect(type).toMatch(/^multipart\/form-data; boundary=\S{10,70}$/);
  expect(headers["content-length"]).toBe(String(Buffer.byteLength(body)));
  const form = await new Response(body, { headers: [["content-type", type]] }).formData();
  expect([...form.keys()]).toEqual(["api_key", "description"]);
  expect(form.get("api_key")).toBe(key);
  const file = form.get("description") as File;
  expect([file.name, file.type]).toEqual(["description.xml", "text/xml"]);
  expect(await file.text()).toContain('<oml:description>&gt;"</oml:description>\n</oml:study>\n');
});
