// Without this script the page reads the same; with it tables sort, filter and answer.
for (const table of document.querySelectorAll("table.sorts")) {
  makeSortable(table);
  addTableTools(table);
}
for (const section of document.querySelectorAll("section.copied")) addCopying(section);
makeAskable(document);
watchWidth(document.querySelectorAll(".wide"));
for (const region of document.querySelectorAll(".board")) narrowBoard(region);
for (const button of document.querySelectorAll("button.print")) {
  button.hidden = false;
  button.addEventListener("click", () => print());
}
for (const nav of document.querySelectorAll("nav.contents")) markCurrent(nav);
