/* global SwaggerUIBundle */
// Starts the viewer on the document that the page names, and follows the system's colours.
const place = document.getElementById("viewer");
const dark = matchMedia("(prefers-color-scheme: dark)");
const followColours = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
followColours();
dark.addEventListener("change", followColours);

/** The words by which an operation is found: its path, its summary, and the names of its inputs. */
const textOf = (operation) =>
  [
    operation.get("method"),
    operation.get("path"),
    ...["summary", "description", "parameters", "requestBody"].map((name) =>
      JSON.stringify(operation.getIn(["operation", name]) ?? ""),
    ),
  ]
    .join(" ")
    .toLowerCase();

/** The viewer itself searches the names of groups only. */
const searchOperations = (groups, phrase) => {
  const words = phrase.toLowerCase().split(/\s+/).filter(Boolean);
  const isFound = (operation) => words.every((word) => textOf(operation).includes(word));
  return groups
    .map((group) => group.set("operations", group.get("operations").filter(isFound)))
    .filter((group) => group.get("operations").size > 0);
};

/** Shows a lock only if an operation needs a key. An operation with an optional key uses that of "Authorize". */
const lockWhereNeeded =
  (OperationSummary, { React }) =>
  (props) => {
    const { operationProps } = props;
    const security = operationProps.get("security");
    const isOptional = security?.some((requirement) => requirement.size === 0);
    const shown = isOptional ? operationProps.set("security", security.clear()) : operationProps;
    return React.createElement(OperationSummary, { ...props, operationProps: shown });
  };

const nameSearch = () => {
  const field = place.querySelector(".operation-filter-input");
  if (field === null) return;
  field.placeholder = "Search paths, words and fields";
  field.setAttribute("aria-label", field.placeholder);
};

SwaggerUIBundle({
  url: place.dataset.document,
  domNode: place,
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [() => ({ fn: { opsFilter: searchOperations }, wrapComponents: { OperationSummary: lockWhereNeeded } })],
  layout: "BaseLayout",
  deepLinking: true,
  filter: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  // The viewer asks no other servers, and stores no key.
  validatorUrl: null,
  persistAuthorization: false,
  onComplete: nameSearch,
});
