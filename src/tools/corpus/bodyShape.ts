import type { Endpoint } from "../../endpoint/endpoint.ts";
import type { givenInBody } from "../../endpoint/input.ts";
import { shapeOf } from "./shapeOf.ts";

/** `body: limit=number`; a body is read by other code than a path. */
export const bodyShape = ({ input }: Endpoint, read: ReturnType<typeof givenInBody>): string =>
  `body: ${"errors" in read ? "malformed" : shapeOf(input, read.given)}`;
