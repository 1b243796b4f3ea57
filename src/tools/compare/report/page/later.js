/* Renders deferred content when its fold is opened: see parts.ts. */
document.addEventListener(
  "toggle",
  ({ target }) => {
    const kept = target.querySelector(":scope > noscript");
    if (target.open && kept) kept.outerHTML = kept.textContent;
  },
  true,
);
