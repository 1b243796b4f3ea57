/* Without a token the page is a form: what is given is kept for this tab, and the page asked for with it. */
import { askPage } from "./asking.js";
import { startLive } from "./live.js";
import { adminToken } from "./remembered.js";

const enter = async (form, wasGiven) => {
  const error = form.querySelector("[role=alert]");
  const button = form.querySelector("[type=submit]");
  button.disabled = true;
  try {
    const page = await askPage();
    if (page) {
      document.title = page.title;
      document.getElementById("page").replaceChildren(...page.getElementById("page").childNodes);
      return startLive();
    }
    adminToken.forget();
    error.textContent = wasGiven ? "This is not the token." : "The token is no longer accepted.";
  } catch (problem) {
    error.textContent = `The gateway did not answer: ${problem.message}`;
  }
  button.disabled = false;
  form.elements.token.focus();
};

export const sendSignIn = (form) => {
  form.querySelector("[role=alert]").textContent = "";
  adminToken.set(form.elements.token.value.trim());
  void enter(form, true);
};

export const startSignIn = (form) => {
  if (adminToken.get() === "") form.elements.token.focus();
  else void enter(form, false);
};

export const signOut = () => {
  adminToken.forget();
  location.reload();
};
