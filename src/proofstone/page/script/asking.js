// Every number can be asked: what a title says on hover is told on focus and on tap as well. A table
// is one stop of the Tab key; arrows, Home and End move among what can be asked in it.
const note = make("div", "note-told");
note.id = "told";
note.setAttribute("role", "tooltip");
note.hidden = true;

function makeAskable(page) {
  page.body.append(note);
  for (const each of page.querySelectorAll("[title]")) {
    each.dataset.told = each.title;
    each.removeAttribute("title");
    if (!each.closest("button, a, table")) each.tabIndex = 0;
  }
  for (const table of page.querySelectorAll("table")) {
    const stop = entry(askable(table));
    if (stop) stop.tabIndex = 0;
  }
  page.addEventListener("focusin", (event) => tell(toldBy(event.target)));
  page.addEventListener("focusout", () => tell(null));
  page.addEventListener("pointerover", (event) => {
    if (!note.contains(event.target)) tell(toldBy(event.target) ?? toldBy(page.activeElement));
  });
  page.addEventListener("pointerdown", (event) => {
    const tapped = event.target.closest?.("td [data-told], th [data-told]");
    if (tapped && !tapped.closest("button, a")) settleOn(tapped);  // which lets it have the focus
  });
  // What scrolls takes the answer along.
  page.addEventListener("scroll", () => note.hidden || place(asked()), { capture: true });
  page.addEventListener("keydown", (event) => {
    if (event.key === "Escape") tell(null);
    else if (event.target.matches("[data-told]")) move(event);
  });
}

// What is said when this has the focus or the pointer: its own words, or those of the one that it is
// in or holds.
function toldBy(element) {
  if (!element?.closest || element === document.body) return null;
  const inside = element.matches("button, a") ? element.querySelector("[data-told]") : null;
  return element.closest("[data-told]") ?? inside;
}

const asked = () => document.querySelector('[aria-describedby="told"]');

function tell(now) {
  if (asked() !== now) asked()?.removeAttribute("aria-describedby");
  note.hidden = !now;
  if (!now) return;
  note.textContent = now.dataset.told;
  now.setAttribute("aria-describedby", "told");
  place(now);
}

// Below what is asked, else above it; touching it, so that a pointer can go from one to the other.
function place(beside) {
  const at = beside.getBoundingClientRect();
  const { clientWidth: width, clientHeight: height } = document.documentElement;
  const { offsetWidth, offsetHeight } = note;
  const isBelow = at.bottom + offsetHeight <= height;
  const left = Math.max(8, Math.min(at.left, width - offsetWidth - 8));
  note.style.left = `${left + scrollX}px`;
  note.style.top = `${(isBelow ? at.bottom : at.top - offsetHeight) + scrollY}px`;
}

// Those of a table that are not links or buttons, which have stops of their own.
const askable = (within) =>
  [...within.querySelectorAll("[data-told]")].filter((each) => !each.closest("button, a"));

// Where a table is entered: at a number, or at a head where no number answers.
const entry = (stops) => stops.find((each) => each.closest("td")) ?? stops[0];

function move(event) {
  const from = event.target;
  const cell = from.closest("td, th");
  if (!cell) return;
  const to = { ArrowRight: along, ArrowLeft: along, ArrowDown: across, ArrowUp: across,
    Home: along, End: along }[event.key]?.(from, cell, event.key);
  if (to === undefined) return;
  event.preventDefault();
  if (to) settleOn(to).focus();
}

function along(from, cell, key) {
  const here = askable(cell.parentElement);
  const place = here.indexOf(from);
  return { ArrowRight: here[place + 1], ArrowLeft: here[place - 1], Home: here[0],
    End: here.at(-1) }[key] ?? null;
}

function across(from, cell, key) {
  const rows = [...cell.closest("table").rows].filter((row) => !row.hidden);
  const here = rows.indexOf(cell.parentElement);
  const others = key === "ArrowDown" ? rows.slice(here + 1) : rows.slice(0, here).reverse();
  for (const row of others) {
    const found = row.cells[cell.cellIndex] && askable(row.cells[cell.cellIndex])[0];
    if (found) return found;
  }
  // A column of which nothing else answers: the nearest row that has an answer.
  return others.map((row) => askable(row)[0]).find(Boolean) ?? null;
}

// The one stop of its table from now on.
function settleOn(stop) {
  for (const each of stop.closest("table").querySelectorAll('[data-told][tabindex="0"]')) {
    each.tabIndex = -1;
  }
  stop.tabIndex = 0;
  return stop;
}

// After rows were hidden or moved: the first that is seen, where the stop is not.
function settleStop(table) {
  const stop = table.querySelector('[data-told][tabindex="0"]');
  if (stop && !stop.closest("[hidden]")) return;
  const seen = entry(askable(table).filter((each) => !each.closest("[hidden]")));
  if (seen) settleOn(seen);
}
