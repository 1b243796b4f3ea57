/* What happened, said where it is seen and heard. */
let silence;

/** For a moment, at the foot of the page. */
export const tell = (text) => {
  const told = document.getElementById("told");
  told.textContent = text;
  clearTimeout(silence);
  silence = setTimeout(() => (told.textContent = ""), 6000);
};

/** Whether what is shown is still true. */
export const showConnection = (state, text) => {
  const connection = document.getElementById("connection");
  connection.className = state;
  if (connection.textContent !== text) connection.textContent = text;
};
