// A text that is meant to be pasted has a button that copies it; where a browser forbids that, the
// button selects it.
function addCopying(section) {
  const text = section.querySelector(".copy");
  if (!text) return;
  const button = make("button", "", say("Copy"));
  const told = make("span", "quiet");
  button.type = "button";
  told.setAttribute("role", "status");
  section.querySelector("h2").nextElementSibling.append(" ", button, " ", told);
  button.addEventListener("click", async () => {
    const paragraphs = [...text.children].map((each) => each.textContent);
    try {
      await navigator.clipboard.writeText(paragraphs.join("\n\n"));
      told.textContent = say("Copied");
    } catch {
      text.closest("details").open = true;
      getSelection().selectAllChildren(text);
      told.textContent = say("Selected");
    }
  });
}
