// Sorting by any column of a table marked "sorts", in two orders; a grouped table is sorted within
// its groups. What is missing (an empty data-sort) stands last in either order.
function makeSortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    if ("unsorted" in head.dataset) return;
    const button = make("button", "", ...head.childNodes);
    button.type = "button";
    head.append(button);
    button.addEventListener("click", () => {
      const first = head.dataset.first ?? "ascending";
      const other = first === "ascending" ? "descending" : "ascending";
      const order = head.getAttribute("aria-sort") === first ? other : first;
      for (const each of heads) each.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", order);
      for (const body of table.tBodies) sortBody(body, column, order === "ascending" ? 1 : -1);
    });
  });
}

function sortBody(body, column, sign) {
  const keyed = dataRows(body).map((row) => [sortKey(row.cells[column]), row]);
  keyed.sort(([a], [b]) => {
    if (a === "" || b === "") return (a === "") - (b === "");
    return sign * compareKeys(a, b);
  });
  body.append(...keyed.map(([, row]) => row));
}

function sortKey(cell) {
  const key = cell.dataset.sort ?? cell.textContent.trim();
  return key === "" || Number.isNaN(Number(key)) ? key : Number(key);
}

const inWords = new Intl.Collator(undefined, { numeric: true });
const compareKeys = (a, b) =>
  typeof a === "number" && typeof b === "number" ? a - b : inWords.compare(String(a), String(b));

// The rows of data, without headings of groups.
const dataRows = (body) => [...body.rows].filter((row) => !row.classList.contains("part"));
