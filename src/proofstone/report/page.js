// Sorting by any column of a table marked "sorts". Without this script the page reads the same.
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
