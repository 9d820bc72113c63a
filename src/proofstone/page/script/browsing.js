// Many rows, 50 at a time, with search, lists and chips above them. Each row opens its details.
// Rows are any values.
const ROWS_AT_ONCE = 50;
const counted = (n) => n.toLocaleString("en-US");

const isolated = (text) => make("bdi", "", text);  // a name of any direction moves nothing beside it
const cell = (content, className = "") => make("td", className, content);
const numberCell = (n) => cell(counted(n), "number");

function link(address, text) {
  const made = make("a", "", text);
  made.href = address;
  made.rel = "noreferrer noopener";
  return made;
}

function facts(...pairs) {
  const list = make("dl");
  for (const [name, ...content] of pairs) {
    if (content.some(Boolean)) list.append(make("dt", "", name), make("dd", "", ...content));
  }
  return list;
}

// Facets have a name and the values of a row; a row may have several. A scope narrows nothing by
// itself: other facets read it. Orders compare rows; the first is the order of the rows.
function addBrowser({ section, of, rows, heads, facets, orders = [], textOf, cellsOf, openedBy }) {
  const name = section.querySelector("h2, h3").textContent;
  const search = make("input");
  search.type = "search";
  search.autocomplete = "off";
  const chosen = facets.map((facet) => makeFacet(facet, rows)).filter(Boolean);
  const status = make("span", "told");
  status.setAttribute("role", "status");
  const only = make("span", "only");
  const narrowed = makeButton("", () => narrow(null));
  narrowed.hidden = true;
  const back = makeButton(say("Reset"), clear);
  const tools = make("div", "tools", make("label", "", say("Search"), " ", search));
  tools.setAttribute("role", "group");
  tools.setAttribute("aria-label", say("Tools", { name }));
  const order = makeOrder(orders);
  tools.append(...chosen.map((facet) => facet.element), ...order.elements, narrowed, back, status, " ", only);

  const body = make("tbody");
  const head = make("tr", "", ...heads.map(makeHead));
  const table = make("table", "browsed", make("thead", "", head), body);
  const region = make("div", "wide", table);
  region.setAttribute("role", "region");
  region.setAttribute("aria-label", name);
  const before = makeButton(say("Before"), () => turn(-1));
  const after = makeButton(say("After"), () => turn(1));
  const pager = make("div", "tools pager", before, after);
  section.append(tools, region, pager);

  const texts = new Map();  // read at the first search: rows can be many
  const lowered = (row) => {
    if (!texts.has(row)) texts.set(row, textOf(row).toLowerCase());
    return texts.get(row);
  };
  let found = rows;
  let first = 0;
  let test = null;

  function apply() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const facet of chosen) facet.changed?.(facet.value());
    const filters = chosen.filter((facet) => !facet.scope);
    const asked = chosen.filter((facet) => facet.value() !== "");
    const tallies = new Map(filters.map((facet) => [facet, new Map()]));
    found = rows.filter((row) => {
      if ((test && !test(row)) || !words.every((word) => lowered(row).includes(word))) return false;
      const values = filters.map((facet) => facet.valuesOf(row));
      const failed = filters.filter(
        (facet, at) => facet.value() !== "" && !values[at].includes(facet.value()),
      );
      // A chip counts the rows that pass all filters but its own.
      filters.forEach((facet, at) => {
        if (failed.length > 1 || (failed.length === 1 && failed[0] !== facet)) return;
        const tally = tallies.get(facet);
        for (const value of values[at]) tally.set(value, (tally.get(value) ?? 0) + 1);
      });
      return failed.length === 0;
    });
    for (const facet of filters) facet.tell?.(tallies.get(facet));
    if (order.compare()) found = found.toSorted(order.compare());
    const filtered = words.length + asked.length > 0 || test !== null;
    tools.classList.toggle("filtered", filtered);
    only.textContent = filtered
      ? say("Only", {
          what: [
            ...asked.map((facet) => `${facet.name}: ${facet.value()}`),
            ...(test ? [narrowed.dataset.what] : []),
            ...(words.length ? [search.value.trim()] : []),
          ].join("; "),
        })
      : "";
    first = 0;
    show();
  }

  function show() {
    body.replaceChildren(...found.slice(first, first + ROWS_AT_ONCE).map(makeRow));
    const last = Math.min(first + ROWS_AT_ONCE, found.length);
    status.textContent = say(found.length ? of : "None", {
      first: counted(first + 1), last: counted(last), shown: counted(found.length),
      all: counted(rows.length),
    });
    setDisabled(before, first === 0);
    setDisabled(after, last >= found.length);
    pager.hidden = found.length <= ROWS_AT_ONCE;
    settleStop(table);
  }

  function turn(way) {
    first += way * ROWS_AT_ONCE;
    show();
    tools.scrollIntoView({ block: "nearest" });
  }

  function makeRow(row) {
    const [lead, ...others] = cellsOf(row);
    const button = makeButton("", () => toggle(button, row));
    button.className = "opens";
    button.setAttribute("aria-expanded", "false");
    button.append(lead);
    const start = make("th", "", button);
    start.scope = "row";
    return make("tr", "", start, ...others);
  }

  async function toggle(button, row) {
    const line = button.closest("tr");
    if (button.getAttribute("aria-expanded") === "true") {
      button.setAttribute("aria-expanded", "false");
      line.nextElementSibling.remove();
      return;
    }
    button.setAttribute("aria-expanded", "true");
    const cell = make("td", "opened", make("p", "quiet", say("Loading")));
    cell.colSpan = heads.length;
    line.after(make("tr", "", cell));
    try {
      cell.replaceChildren(await openedBy(row));
      watchWidth(cell.querySelectorAll(".wide"));
    } catch (trouble) {
      cell.replaceChildren(troubleShown(trouble));
    }
  }

  function clear() {
    search.value = "";
    for (const facet of chosen) facet.clear();
    order.clear();
    narrow(null);
  }

  // Only rows that pass a test, under a name that stands on the button that takes it back.
  function narrow(wanted, what = "") {
    test = wanted;
    narrowed.hidden = wanted === null;
    narrowed.dataset.what = what;
    narrowed.textContent = wanted ? say("Narrowed", { what }) : "";
    apply();
  }

  search.addEventListener("input", apply);
  for (const facet of chosen) facet.listen(apply);
  order.listen(apply);
  apply();
  watchWidth([region]);
  return { narrow, clear };
}

function makeButton(text, pressed) {
  const button = make("button", "", text);
  button.type = "button";
  button.addEventListener("click", () => {
    if (button.getAttribute("aria-disabled") !== "true") pressed();
  });
  return button;
}

// Not "disabled", which would take the focus from whoever pages with the keyboard.
const setDisabled = (button, is) => button.setAttribute("aria-disabled", String(is));

function makeHead({ text, isNumber, className = "" }) {
  const head = make("th", isNumber ? `number ${className}` : className, text);
  head.scope = "col";
  return head;
}

// A list of the values that rows have, or a chip for each; nothing where all have the same.
function makeFacet(facet, rows) {
  const valuesOf = facet.valuesOf ?? ((row) => [facet.valueOf(row)].filter((value) => value !== ""));
  const numbers = new Map();
  for (const row of rows) {
    for (const value of valuesOf(row)) numbers.set(value, (numbers.get(value) ?? 0) + 1);
  }
  const isOne = numbers.size < 2 && [...numbers.values()].every((n) => n === rows.length);
  if (!numbers.size || (isOne && !facet.scope)) return null;
  const found = facet.inOrder ?? [...numbers.keys()].sort(inWords.compare);
  const values = found.filter((value) => numbers.has(value));
  return { ...facet, valuesOf, ...(facet.chips ? makeChips : makeList)(facet, values, numbers) };
}

function makeOrder(orders) {
  if (!orders.length) return { elements: [], compare: () => null, clear() {}, listen() {} };
  const select = make("select");
  select.autocomplete = "off";
  orders.forEach(({ name }, place) => select.append(new Option(name, place)));
  return {
    elements: [make("label", "", say("Sort"), " ", select)],
    compare: () => orders[Number(select.value)].compare ?? null,
    clear: () => (select.value = "0"),
    listen: (apply) => select.addEventListener("change", apply),
  };
}

function makeList(facet, values) {
  const select = make("select");
  select.autocomplete = "off";
  select.append(new Option(facet.any ?? say("Any"), ""));
  for (const value of values) select.append(new Option(value, value));
  return {
    element: make("label", "", facet.name, " ", select),
    value: () => select.value,
    clear: () => (select.value = ""),
    listen: (apply) => select.addEventListener("change", apply),
  };
}

function makeChips(facet, values, numbers) {
  let chosen = "";
  let changed = () => {};
  const mark = () => {
    for (const chip of chips) chip.setAttribute("aria-pressed", String(chip.value === chosen));
  };
  const chips = values.map((value) => {
    const chip = makeButton("", () => {
      chosen = chosen === value ? "" : value;
      mark();
      changed();
    });
    chip.value = value;
    return chip;
  });
  const tell = (tally) => {
    for (const chip of chips) chip.textContent = `${chip.value} ${counted(tally.get(chip.value) ?? 0)}`;
  };
  const element = make("span", "chips", facet.name, " ", ...chips);
  element.setAttribute("role", "group");
  element.setAttribute("aria-label", facet.name);
  mark();
  tell(numbers);
  return {
    element,
    tell,
    value: () => chosen,
    clear: () => {
      chosen = "";
      mark();
    },
    listen: (apply) => (changed = apply),
  };
}
