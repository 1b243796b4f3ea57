/* A button beside commands, or an entry, that copies them, made when their fold is opened. */
const said = document.getElementById("said");

/** Some browsers give a page that was opened as a file no clipboard: then it goes by a selection. */
const bySelection = (element) => {
  getSelection().selectAllChildren(element);
  const isDone = document.execCommand("copy");
  if (isDone) getSelection().removeAllRanges();
  return isDone;
};

const copy = async (element) => {
  try {
    await navigator.clipboard.writeText(element.textContent);
    return true;
  } catch {
    return bySelection(element);
  }
};

const press = async (target) => {
  const isDone = await copy(target.previousElementSibling);
  target.textContent = isDone ? "Copied" : "Selected";
  said.textContent = isDone ? "Copied" : "Selected, to be copied";
  setTimeout(() => {
    target.textContent = "Copy";
    said.textContent = "";
  }, 2000);
};

const addButton = (commands) => {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  // A page that is brought up to date leaves it where it is.
  button.dataset.own = "";
  commands.append(button);
};

document.addEventListener(
  "toggle",
  ({ target }) => {
    const commands = target.open ? target.querySelector(":scope > .commands") : null;
    if (commands && !commands.querySelector("button")) addButton(commands);
  },
  true,
);

document.addEventListener("click", ({ target }) => {
  if (target.matches("button.copy")) void press(target);
});
