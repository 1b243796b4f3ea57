/* Without a token the page is a form. It keeps the token for this tab, and requests the page with it. */
import { adminToken } from "../../../../ui/client/remembered.js";
import { requestPage } from "../../../../ui/client/request.js";
import { startLive } from "./live.js";

const signInForm = document.getElementById("sign-in");

const enter = async (refusal) => {
  const error = signInForm.querySelector("[role=alert]");
  const button = signInForm.querySelector("[type=submit]");
  button.disabled = true;
  try {
    const page = await requestPage();
    if (page) {
      document.title = page.title;
      document.getElementById("page").replaceChildren(...page.getElementById("page").childNodes);
      return startLive();
    }
    adminToken.forget();
    error.textContent = refusal;
  } catch (problem) {
    error.textContent = `The gateway did not answer: ${problem.message}`;
  }
  button.disabled = false;
  signInForm.elements.token.focus();
};

document.addEventListener("submit", (event) => {
  event.preventDefault();
  if (event.target !== signInForm) return;
  signInForm.querySelector("[role=alert]").textContent = "";
  adminToken.set(signInForm.elements.token.value.trim());
  void enter("This is not the token.");
});

document.addEventListener("click", ({ target }) => {
  if (!target.closest("#sign-out")) return;
  adminToken.forget();
  location.reload();
});

if (!signInForm) startLive();
else if (adminToken.get() === "") signInForm.elements.token.focus();
else void enter("The token is no longer accepted.");
