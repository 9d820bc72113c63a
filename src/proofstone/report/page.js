// Sorting and filtering. Without this script the page reads the same.
const FILTER_FROM = 8;  // rows; a shorter table is seen at a glance
for (const table of document.querySelectorAll("table.sorts")) {
  const rows = [...table.tBodies].flatMap((body) => [...body.rows]);
  if (rows.length < FILTER_FROM) continue;
  const label = document.createElement("label");
  const input = document.createElement("input");
  const told = document.createElement("span");
  input.type = "search";
  told.setAttribute("role", "status");
  label.className = "filter";
  label.append(document.body.dataset.onlyRows, input, " ", told);
  table.parentElement.before(label);
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !row.classList.contains("part") && !words.every((word) => text.includes(word));
      if (!row.hidden) shown += 1;
    }
    const said = document.body.dataset.rowsShown.replace("{shown}", shown).replace("{all}", rows.length);
    told.textContent = words.length ? said : "";
  });
}

// Sorting by any column of a table marked "sorts".
for (const table of document.querySelectorAll("table.sorts")) {
  const heads = [...table.tHead.rows[0].cells];
  const keyOf = (row, column) => {
    const cell = row.cells[column];
    const key = cell.dataset.sort ?? cell.textContent.trim();
    return key !== "" && !Number.isNaN(Number(key)) ? Number(key) : key;
  };
  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number"
      ? a - b
      : String(a).localeCompare(String(b), undefined, { numeric: true });
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const first = head.dataset.first ?? "ascending";
      const other = first === "ascending" ? "descending" : "ascending";
      const order = head.getAttribute("aria-sort") === first ? other : first;
      for (const each of heads) each.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      for (const body of table.tBodies) {  // a grouped table is sorted within its groups
        const rows = [...body.rows].filter((row) => !row.classList.contains("part"));
        rows.sort((a, b) => sign * compare(keyOf(a, column), keyOf(b, column)));
        body.append(...rows);
      }
    });
  });
}
