/* What speaks against a step towards modern, and the reason that such a step needs. */
import { partOf } from "../../../../ui/client/dialogs.js";

/** Shows what speaks against it in a dialog, which then asks for the reason. `objections`: one sentence each. */
export const showObjections = (dialog, objections) => {
  const part = partOf(dialog, "against");
  part.hidden = objections.length === 0;
  part.querySelector("input").disabled = part.hidden;
  const list = partOf(dialog, "objections");
  // A screen reader begins anew with each change.
  if ([...list.children].map(({ textContent }) => textContent).join("\n") === objections.join("\n")) return;
  list.replaceChildren(...objections.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
};

/** The reason that a dialog has asked for, as a member of the body. */
export const despiteOf = ({ despite }) => (despite.disabled ? {} : { despite: despite.value.trim() });

/** Whether a move gives modern more of the callers. */
export const givesMoreCallers = (from, to) => {
  const callersOf = ({ stage, share }) => (stage === "modern" ? 101 : stage === "canary" ? Number(share) : 0);
  return callersOf(to) > callersOf(from);
};
