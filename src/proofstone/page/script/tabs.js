// Parts of a section one at a time, under tabs with their names; on paper and without this script
// they stand one after the other.
function addTabs(section) {
  const parts = [...section.querySelectorAll(":scope > section")];
  if (parts.length < 2) return;
  const tabs = parts.map((part, place) => {
    const heading = part.querySelector("h2, h3");
    const tab = makeTab(heading.textContent, `${heading.id}-tab`);
    part.id ||= `${heading.id}-panel`;
    part.setAttribute("role", "tabpanel");
    part.setAttribute("aria-labelledby", tab.id);
    part.tabIndex = 0;
    tab.setAttribute("aria-controls", part.id);
    tab.addEventListener("click", () => choose(place));
    return tab;
  });
  const list = make("div", "tablist", ...tabs);
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", section.querySelector("h2").textContent);
  parts[0].before(list);
  list.addEventListener("keydown", (event) => {
    const here = tabs.indexOf(event.target);
    const to = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (here < 0 || to === undefined) return;
    event.preventDefault();
    const place = (to + tabs.length) % tabs.length;
    choose(place);
    tabs[place].focus();
  });

  function choose(chosen) {
    tabs.forEach((tab, place) => {
      tab.setAttribute("aria-selected", String(place === chosen));
      tab.tabIndex = place === chosen ? 0 : -1;
      parts[place].classList.toggle("unchosen", place !== chosen);
    });
  }
  choose(0);
}

function makeTab(text, id) {
  const tab = make("button", "", text);
  tab.type = "button";
  tab.id = id;
  tab.setAttribute("role", "tab");
  return tab;
}

for (const section of document.querySelectorAll("section.tabs")) addTabs(section);
