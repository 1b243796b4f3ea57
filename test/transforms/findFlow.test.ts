import { expect, test } from "vitest";
import { findFlow } from "../../transforms/findFlow.ts";

const asked = (name: string, external_version = "1") => findFlow.legacy({ name, external_version });

test.each([
  "window.location=1",
  "document.window.onload=1",
  "data:x;base64,y+",
  "Redirect 301",
  "a<b=1",
  "f(x<5)",
  "a<",
  "a< b>",
  "a<->",
  "<comment>",
  "<keygen>",
  "<xssx>",
  "<b>x&amp;y",
  "a?>",
  "e val, x",
  "w r i t e,x",
])("a flow's name that legacy would rewrite is not sent: %s", (name) => {
  expect(asked(name)).toHaveProperty("unsent");
  expect(asked("a", name)).toHaveProperty("unsent");
});

test.each(["amp&lt<x>", "<b>bold</b>=", "data:x=y", "redirect 200", "evaluate (x=1)", "a document, written"])(
  "a flow's name is sent as it is: %s",
  (name) => {
    expect(asked(name)).toEqual({ method: "POST", path: "/flow/exists", form: { name, external_version: "1" } });
  },
);
