/* Messages to the operator, in live regions, so that they are seen and heard. */
let clearing;

/** Shows a text at the foot of the page for six seconds. */
export const showMessage = (text) => {
  const message = document.getElementById("message");
  message.textContent = text;
  clearTimeout(clearing);
  clearing = setTimeout(() => (message.textContent = ""), 6000);
};

/** Sets the text of a live region only where it differs: a screen reader reads each setting aloud. */
export const setText = (element, text) => {
  if (element.textContent !== text) element.textContent = text;
};
