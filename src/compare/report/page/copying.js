/* The buttons that copy the commands beside them. */
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

document.addEventListener("click", async ({ target }) => {
  if (!target.matches("button.copy")) return;
  const isDone = await copy(target.parentElement.querySelector("pre"));
  target.textContent = isDone ? "Copied" : "Selected";
  said.textContent = isDone ? "Copied both commands" : "Selected, to be copied";
  setTimeout(() => {
    target.textContent = "Copy";
    said.textContent = "";
  }, 2000);
});
