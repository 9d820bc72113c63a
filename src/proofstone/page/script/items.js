// The items of a page, with the answer matrix. A row opens its details: what each model answered,
// and links to the prompt, the responses and the source in the files beside the page.
const held = JSON.parse(document.getElementById("items-json")?.textContent ?? "null");

const itemOf = ([id, title, group, document, key, cells, answers, share, discrimination, flags, place], at) => ({
  at, id, title, group, document, key, cells, answers, share, discrimination, flags, place,
});

function addItems() {
  const section = document.querySelector("section.items");
  if (!held || !section) return;
  const seen = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      seen.disconnect();
      showItems(section);
    },
    { rootMargin: "800px" },
  );
  seen.observe(section);
}

async function showItems(section) {
  const wait = make("p", "quiet", say("Loading"));
  section.append(wait);
  try {
    const rows = await readAll(held, held.pieces);
    section.querySelector(".unscripted").remove();
    browseItems(section, rows.map(itemOf));
  } catch (missing) {
    wait.after(make("p", "note", say("Missing", { file: missing.message })));
  }
  wait.remove();
}

const stateNames = () => Object.values(held.states).map(([, name]) => name);
const letterOf = (item, model) => (item.answers[model] ?? " ").trim();
const codes = () => Object.keys(held.states);

function browseItems(section, items) {
  const { models, states } = held;
  let model = -1;  // whose outcomes are filtered by; -1 for any
  const outcomes = (item) =>
    model < 0 ? [...new Set(item.cells)].map((code) => states[code][1]) : [states[item.cells[model]][1]];
  const flagsOf = (item) =>
    item.flags.length ? item.flags.map((flag) => held.flags[flag]) : [say("Unflagged")];
  const hasKeys = items.some((item) => item.key);
  const hasFlags = items.some((item) => item.flags.length);
  const known = (value) => value ?? Infinity;
  addBrowser({
    section,
    of: "OfItems",
    rows: items,
    heads: [
      { text: say("Item") }, ...(hasKeys ? [{ text: say("Key"), className: "aside" }] : []),
      ...models.map((name) => ({ text: make("span", "", isolated(name)), className: "turned aside" })),
      { text: say("MeanScore"), isNumber: true }, { text: say("Discrimination"), isNumber: true, className: "aside" },
      ...(hasFlags ? [{ text: say("Flag"), className: "aside" }] : []),
    ],
    facets: [
      { name: say("Model"), scope: true, any: say("AnyModel"), valuesOf: () => models, inOrder: models,
        changed: (chosen) => (model = models.indexOf(chosen)) },
      { name: say("Outcome"), valuesOf: outcomes, chips: true, inOrder: stateNames() },
      { name: held.level, valueOf: (item) => item.group, ...fewest(items, "group") },
      { name: say("Document"), valueOf: (item) => item.document },
      { name: say("Flag"), valuesOf: flagsOf, chips: true, inOrder: [...held.flags, say("Unflagged")] },
    ],
    orders: [
      { name: say("SortOrder") },
      { name: say("SortHard"), compare: (a, b) => known(a.share) - known(b.share) },
      { name: say("SortLow"), compare: (a, b) => known(a.discrimination) - known(b.discrimination) },
    ],
    textOf: (item) => `${item.id} ${item.title} ${item.group} ${item.document}`,
    cellsOf: (item) => [
      make("span", "", isolated(item.title || item.id)),
      ...(hasKeys ? [cell(item.key, "aside")] : []),
      ...models.map((_, place) => stateCell(item, place)),
      cell(shownPoints(item.share), "number"), cell(shownR(item.discrimination), "number aside"),
      ...(hasFlags ? [cell(item.flags.map((flag) => held.flags[flag]).join("; "), "wrap aside")] : []),
    ],
    openedBy: (item) => Promise.resolve(itemDetails(item)),
  });
}

// Few groups are chips, more are a list.
const fewest = (items, name) => ({ chips: new Set(items.map((item) => item[name])).size <= 8 });

const shownPoints = (share) => (share === null ? "\u2014" : (100 * share).toFixed(1));
const shownR = (r) => (r === null ? "\u2014" : r.toFixed(2).replace("-", "\u2212"));

function stateCell(item, model) {
  const code = item.cells[model];
  const made = cell("", `state aside s${codes().indexOf(code)}`);
  const [symbol, name] = held.states[code];
  const letter = "rwp".includes(code) ? letterOf(item, model) : "";
  made.append(letter ? make("b", "", letter) : symbol);
  made.dataset.told = `${held.models[model]}: ${name}${letter ? ` (${letter})` : ""}`;
  return made;
}

function itemDetails(item) {
  const copy = makeButton(say("CopyId"), async () => {
    try {
      await navigator.clipboard.writeText(item.id);
      copy.textContent = say("Copied");
    } catch {
      getSelection().selectAllChildren(copy.previousElementSibling);
      copy.textContent = say("Selected");
    }
  });
  const there = (part) => {
    const file = `${encodeURIComponent(held.folder)}/responses-${Math.floor(item.place / held.each) + 1}.html`;
    return `${file}#i${item.place}${part}`;
  };
  const has = held.each > 0 && item.place >= 0;
  const made = make("div", "", facts(
    [say("ItemId"), make("code", "id", item.id), " ", copy],
    [say("Key"), item.key],
    [held.level, item.group],
    [say("Source"), item.document && (has ? link(there("-s"), item.document) : item.document)],
    [say("Prompt"), has && link(there("-p0"), say("Open"))],
    [say("Discrimination"), item.discrimination !== null && shownR(item.discrimination)],
    [say("Flag"), item.flags.map((flag) => held.flags[flag]).join("; ")],
  ));
  const heads = [say("Model"), say("Outcome"), say("Extracted"), ...(has ? [say("Response")] : [])];
  const rows = held.models.map((name, place) => {
    const who = make("th", "", isolated(name));
    who.scope = "row";
    const code = item.cells[place];
    const open = cell("");
    if (has && code !== "-") {
      const to = link(there(`-m${place}`), say("Open"));
      to.setAttribute("aria-label", `${say("Open")}: ${say("Response")}, ${name}`);
      open.append(to);
    }
    const outcome = cell(held.states[code][1], "outcome");
    return make("tr", "", who, outcome, cell(letterOf(item, place)), ...(has ? [open] : []));
  });
  const head = make("tr", "", ...heads.map((text) => makeHead({ text })));
  made.append(make("div", "wide", make("table", "", make("thead", "", head), make("tbody", "", ...rows))));
  return made;
}

addItems();
