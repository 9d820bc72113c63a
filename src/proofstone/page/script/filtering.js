// Search, lists and a reset button above a table.
const FILTER_FROM = 8;  // rows; fewer are seen at a glance
const MOST_CHOICES = 40;

// A table that is filtered: its name; the groups of its rows, each with its heading (or nothing);
// facets with a name and the value of a row; what restores the original order, and what is to be
// done when other rows are shown.
function addTools({ name, place, groups, facets, reset, settle }) {
  const rows = groups.flatMap((group) => group.rows);
  const search = make("input");
  search.type = "search";
  search.autocomplete = "off";  // a browser that keeps it over a reload would not filter by it
  const choices = facets.map((facet) => makeChoice(facet, rows)).filter(Boolean);
  const status = make("span", "told");
  status.setAttribute("role", "status");
  const only = make("span", "only");
  const back = make("button", "", say("Reset"));
  back.type = "button";
  const tools = make("div", "tools", make("label", "", say("Search"), " ", search));
  tools.setAttribute("role", "group");
  tools.setAttribute("aria-label", say("Tools", { name }));
  tools.append(...choices.map((choice) => choice.label), back, status, " ", only);
  place.before(tools);

  const texts = new Map();  // read at the first search: tables can be long
  const textOf = (row) => {
    if (!texts.has(row)) texts.set(row, row.textContent.toLowerCase());
    return texts.get(row);
  };
  const apply = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const asked = choices.filter((choice) => choice.select.value !== "");
    let shown = 0;
    for (const { head, rows: mine } of groups) {
      for (const row of mine) {
        row.hidden = !(
          asked.every(({ facet, select }) => facet.valueOf(row) === select.value) &&
          words.every((word) => textOf(row).includes(word))
        );
      }
      const left = mine.filter((row) => !row.hidden).length;
      if (head) head.hidden = left === 0;
      shown += left;
    }
    const filtered = words.length + asked.length > 0;
    tools.classList.toggle("filtered", filtered);
    status.textContent = say(filtered ? "ShownRows" : "AllRows", { shown, all: rows.length });
    only.textContent = filtered
      ? say("Only", {
          what: [
            ...asked.map(({ facet, select }) => `${facet.name}: ${select.value}`),
            ...(words.length ? [search.value.trim()] : []),
          ].join("; "),
        })
      : "";
    settle?.();
  };
  const clear = () => {
    search.value = "";
    for (const { select } of choices) select.value = "";
    reset?.();
    apply();
  };
  search.addEventListener("input", apply);
  for (const { select } of choices) select.addEventListener("change", apply);
  back.addEventListener("click", clear);
  apply();
  return { clear };
}

// One of the values that rows have; nothing where all have the same, or nearly each its own.
function makeChoice(facet, rows) {
  const values = new Set(rows.map(facet.valueOf));
  values.delete("");
  const most = facet.always ? MOST_CHOICES : Math.min(MOST_CHOICES, rows.length / 2);
  if (values.size < 2 || values.size > most) return null;
  const select = make("select");
  select.autocomplete = "off";
  select.append(new Option(say("Any"), ""));
  for (const value of [...values].sort(inWords.compare)) select.append(new Option(value, value));
  return { facet, select, label: make("label", "", facet.name, " ", select) };
}

// Columns of words are facets; so is what groups the rows of a grouped table. One that is marked is
// a facet also of a few rows.
function tableFacets(table) {
  const rows = [...table.tBodies].flatMap(dataRows);
  const heads = [...table.tHead.rows[0].cells];
  const isWords = (cell) => !cell.matches(".number, .ties, .span, .plot");
  const columns = heads
    .map((head, column) => ({ head, column }))
    .filter(({ column }) => rows.every((row) => isWords(row.cells[column])))
    .map(({ head, column }) => ({
      name: head.textContent.trim(),
      always: head.dataset.facet === "always",
      valueOf: (row) => row.cells[column].textContent.trim(),
    }));
  const by = table.dataset.groupedBy;
  if (!by) return columns;
  return [{ name: by, valueOf: (row) => row.parentElement.dataset.group }, ...columns];
}

function addTableTools(table) {
  const bodies = [...table.tBodies];
  const groups = bodies.map((body) => ({
    head: body.querySelector("tr.part"),
    rows: dataRows(body),
  }));
  const few = table.querySelector("[data-facet=always]") ? 2 : FILTER_FROM;
  if (groups.flatMap((group) => group.rows).length < few) return;
  const region = table.closest(".wide");
  addTools({
    name: region.getAttribute("aria-label"),
    place: region,
    groups,
    facets: tableFacets(table),
    reset: () => {
      for (const head of table.tHead.rows[0].cells) head.removeAttribute("aria-sort");
      groups.forEach(({ rows }, place) => bodies[place].append(...rows));
    },
    settle: () => settleStop(table),
  });
}
