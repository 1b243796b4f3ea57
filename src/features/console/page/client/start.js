/* What the operator does, heard in one place: the page below may be another one after signing in. */
import { changeMove, openMove, sendMove, showMove } from "./moving.js";
import { openExpect, sendExpect, showExpect } from "./expecting.js";
import { showDifferencesOf, showFiltered } from "./filters.js";
import { startLive } from "./live.js";
import { sendSignIn, signOut, startSignIn } from "./signIn.js";

document.addEventListener("click", ({ target }) => {
  const found = (selector) => target.closest(selector);
  if (found("[data-move]")) openMove(found("[data-move]").dataset.move);
  else if (found("[data-expect]")) openExpect(found("[data-expect]").dataset);
  else if (found("[data-see]")) showDifferencesOf(found("[data-see]").dataset.see);
  else if (found("[data-close]")) found("dialog").close();
  else if (found("#sign-out")) signOut();
});

document.addEventListener("input", ({ target }) => {
  if (target.closest("#move")) changeMove(target);
  else if (target.closest("#expect")) showExpect();
  else if (target.closest("#filters")) showFiltered();
});

document.addEventListener("submit", (event) => {
  event.preventDefault();
  const { target } = event;
  if (target.closest("#move")) void sendMove();
  else if (target.closest("#expect")) void sendExpect();
  else if (target.id === "sign-in") sendSignIn(target);
});

document.addEventListener("newer", showMove);

const signInForm = document.getElementById("sign-in");
if (signInForm) startSignIn(signInForm);
else startLive();
