// On a phone a leaderboard shows the rank, the model and its score. A tap on the model shows the other
// columns of its row.
const PHONE = matchMedia("(max-width: 40rem)");

function narrowBoard(region) {
  const table = region.querySelector("table");
  const rows = () => [...table.tBodies].flatMap(dataRows);
  const first = rows()[0];
  if (!first) return;
  const heads = [...table.tHead.rows[0].cells];
  const lead = [...first.cells].findIndex((each) => each.matches("th[scope=row]"));
  const score = heads.findIndex((head) => head.dataset.first === "descending");
  if (lead < 0 || score < 0) return;
  const stays = new Set([0, lead, score]);
  // Rows of one model differ by their setting, which then stays with the name.
  const tally = new Map();
  for (const row of rows()) {
    const name = row.cells[lead].textContent.trim();
    tally.set(name, (tally.get(name) ?? 0) + 1);
  }
  for (const row of rows()) {
    const setting = row.querySelector("td.way")?.textContent.trim();
    if (setting && tally.get(row.cells[lead].textContent.trim()) > 1) {
      row.cells[lead].dataset.sort ??= row.cells[lead].textContent.trim();
      row.cells[lead].append(make("span", "row-setting", " ", setting));
    }
  }
  const names = heads.map((head) => head.textContent.trim());
  const settle = () => {
    region.classList.toggle("narrow", PHONE.matches);
    for (const row of table.rows) {
      if (row.cells.length !== heads.length) continue;
      [...row.cells].forEach((each, place) => each.classList.toggle("aside", !stays.has(place)));
    }
    if (PHONE.matches) for (const row of rows()) addMore(row.cells[lead], row, stays, names);
  };
  PHONE.addEventListener("change", settle);
  settle();
}

function addMore(cell, row, stays, names) {
  if (cell.querySelector(".row-open")) return;
  cell.dataset.sort ??= cell.textContent.trim();
  const more = make("dl", "row-more");
  [...row.cells].forEach((each, place) => {
    if (stays.has(place) || !each.textContent.trim()) return;
    more.append(make("dt", "", names[place]), make("dd", "", each.textContent.trim()));
  });
  if (!more.childNodes.length) return;
  more.hidden = true;
  const button = make("button", "row-open", say("More"));
  button.type = "button";
  button.setAttribute("aria-expanded", "false");
  button.setAttribute("aria-label", `${say("More")}: ${cell.dataset.sort}`);
  button.addEventListener("click", () => {
    more.hidden = !more.hidden;
    button.setAttribute("aria-expanded", String(!more.hidden));
  });
  cell.append(" ", button, more);
}
