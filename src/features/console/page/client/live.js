/* Asks for the page again while it is looked at, and shows what changed. */
import { askPage } from "./asking.js";
import { showFiltered } from "./filters.js";
import { morph } from "./morph.js";
import { adminToken } from "./remembered.js";
import { showConnection } from "./telling.js";

const EVERY = 2000;
const LONGEST = 30_000;

let wait = EVERY;
let timer;
let lostAt;
let asking = Promise.resolve();

/** Where the focused element went away, its section takes the focus. */
const showNewer = (newer) => {
  const focused = document.activeElement;
  const section = focused?.closest("section");
  for (const region of document.querySelectorAll("[data-live]")) {
    const next = newer.getElementById(region.id);
    if (next) morph(region, next);
  }
  document.title = newer.title;
  showFiltered();
  document.dispatchEvent(new Event("newer"));
  if (section && !focused.isConnected) section.querySelector("h2").focus({ preventScroll: true });
};

const clock = (date) => `${date.toISOString().slice(11, 19)} UTC`;

const lost = (why) => {
  lostAt ??= new Date();
  wait = Math.min(LONGEST, wait * 2);
  showConnection("lost", `Disconnected since ${clock(lostAt)}${why}`);
};

const found = (newer) => {
  lostAt = undefined;
  wait = EVERY;
  const isOther = newer.documentElement.dataset.version !== document.documentElement.dataset.version;
  if (isOther) showConnection("old", "This gateway has a newer page: reload to see it");
  else showConnection("live", "Live");
};

const askOnce = async () => {
  try {
    const newer = await askPage();
    if (newer === undefined) return lost(": the token is no longer accepted. Sign out to give another");
    if (newer.documentElement.dataset.version === document.documentElement.dataset.version) showNewer(newer);
    found(newer);
  } catch {
    lost("; trying again");
  }
};

/** Asks now, after what is being asked already; then again and again. */
export const refresh = () => {
  clearTimeout(timer);
  asking = asking.then(askOnce).finally(() => {
    clearTimeout(timer);
    if (document.visibilityState === "visible") timer = setTimeout(refresh, wait);
  });
  return asking;
};

export const startLive = () => {
  document.getElementById("sign-out").hidden = adminToken.get() === "";
  showConnection("live", "Live");
  showFiltered();
  timer = setTimeout(refresh, wait);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") void refresh();
  });
  addEventListener("online", () => void refresh());
};
