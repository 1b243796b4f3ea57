/* Requests the page every two seconds while it is visible, and shows what has changed. */
import { setText } from "../../../../libraries/ui/client/messages.js";
import { adminToken } from "../../../../libraries/ui/client/remembered.js";
import { requestPage } from "../../../../libraries/ui/client/request.js";

/* global Idiomorph */

const INTERVAL_MS = 2000;
const MAX_INTERVAL_MS = 30_000;

let wait = INTERVAL_MS;
let timer;
let lostAt;
let requesting = Promise.resolve();

/** The operator sets these; a newer page does not. */
const attributesOfOperator = new Set(["open", "hidden", "value", "checked", "selected"]);

const callbacks = {
  beforeNodeMorphed: (old, next) => !old.isEqualNode(next),
  beforeAttributeUpdated: (name) => !attributesOfOperator.has(name),
};

/**
 * Idiomorph finds elements again by their id. A `data-key` is unique among siblings, and so is the
 * path of keys in the page.
 */
const nameKeyed = (region) => {
  for (const element of region.querySelectorAll("[data-key]:not([id])"))
    element.id = `${element.parentElement.closest("[id]").id} ${element.dataset.key}`;
};

/** Shows a newer page. If the focused element is gone, the heading of its section gets the focus. */
const showNewer = (newer) => {
  const focused = document.activeElement;
  const section = focused?.closest("section");
  for (const region of document.querySelectorAll("[data-live]")) {
    const next = newer.getElementById(region.id);
    if (!next) continue;
    nameKeyed(region);
    nameKeyed(next);
    Idiomorph.morph(region, next, { callbacks });
  }
  document.title = newer.title;
  document.dispatchEvent(new Event("page:shown"));
  if (document.activeElement === focused || !section) return;
  (focused.isConnected ? focused : section.querySelector("h2")).focus({ preventScroll: true });
};

/** Shows whether the page is up to date. */
const showConnection = (state, text) => {
  const connection = document.getElementById("connection");
  connection.className = state;
  setText(connection, text);
};

const disconnected = (why) => {
  lostAt ??= new Date();
  wait = Math.min(MAX_INTERVAL_MS, wait * 2);
  showConnection("lost unexplained", `Disconnected since ${lostAt.toISOString().slice(11, 19)} UTC${why}`);
};

const refreshOnce = async () => {
  try {
    const newer = await requestPage();
    if (newer === undefined) return disconnected(": the token is no longer accepted. Sign out to give another");
    const isSameVersion = newer.documentElement.dataset.version === document.documentElement.dataset.version;
    if (isSameVersion) showNewer(newer);
    lostAt = undefined;
    wait = INTERVAL_MS;
    if (isSameVersion) showConnection("live", "Live");
    else showConnection("old drift", "This gateway has a newer page: reload to see it");
  } catch {
    disconnected("; trying again");
  }
};

/** Requests the page now, after any request that is under way, and then every two seconds. */
const refresh = () => {
  clearTimeout(timer);
  requesting = requesting.then(refreshOnce).finally(() => {
    clearTimeout(timer);
    if (document.visibilityState === "visible") timer = setTimeout(refresh, wait);
  });
};

/** Keeps the page up to date from now on. */
const startLive = () => {
  document.getElementById("sign-out").hidden = adminToken.get() === "";
  showConnection("live", "Live");
  document.dispatchEvent(new Event("page:shown"));
  timer = setTimeout(refresh, wait);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") refresh();
  });
  document.addEventListener("page:changed", refresh);
  addEventListener("online", refresh);
};

const SEARCH_DELAY_MS = 200;
let searching;

/** Requests the page with this search in its address. The query of a path is left out: it may contain a key. */
const search = ({ name, value, dataset }) => {
  const query = new URLSearchParams(location.search);
  const text = dataset.path === undefined ? value.trim() : value.trim().replace(/[?#].*/s, "");
  if (text === "") query.delete(name);
  else query.set(name, text);
  history.replaceState(null, "", `?${query}`);
  refresh();
};

document.addEventListener("input", ({ target }) => {
  if (target.dataset.search === undefined) return;
  clearTimeout(searching);
  searching = setTimeout(() => search(target), SEARCH_DELAY_MS);
});

/* Without a token the page is a form. It keeps the token for this tab, and requests the page with it. */
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
