// The entities and the verdicts of a page of verified triples.
const held = JSON.parse(document.getElementById("held")?.textContent ?? "null");

const entityOf = ([name, domain, popularity, isNonexistent, page, wikidata, counts, fiction], at) => ({
  at, name, domain, popularity, page, wikidata, counts,
  kind: isNonexistent ? [say("Nonexistent"), fiction].filter(Boolean).join(", ") : "",
});

const verdictOf = ([group, direction, verdict, entity, subject, predicate, object, family], at) => ({
  at, group, direction, verdict, entity, family, triple: [subject, predicate, object],
});

// Each once they come into sight, for both may be long.
function addBrowsers() {
  const sections = document.querySelectorAll("section.browser");
  if (!held || !sections.length) return;
  const seen = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      seen.disconnect();
      showBrowsers(sections);
    },
    { rootMargin: "800px" },
  );
  for (const section of sections) seen.observe(section);
}

async function showBrowsers(sections) {
  const wait = [...sections].map((section) => make("p", "quiet", say("Loading")));
  sections.forEach((section, place) => section.append(wait[place]));
  try {
    const [entities, verdicts] = await Promise.all([
      readAll(held, held.entities.pieces),
      readAll(held, held.triples.pieces),
    ]);
    for (const each of document.querySelectorAll("section.browser .unscripted")) each.remove();
    const open = { verdicts: null };
    const known = entities.map(entityOf);
    addEntities(document.querySelector("#entities-held"), known, open);
    open.verdicts = addVerdicts(document.querySelector("#triples-held"), verdicts.map(verdictOf), known);
  } catch (trouble) {
    for (const each of wait) each.after(troubleShown(trouble));
  }
  for (const each of wait) each.remove();
}

// How many verdicts of a kind an entity got, of one group or of all; kinds by their places.
const KINDS = { supported: [0], against: [1], undecided: [2, 3], said: [4], unsaid: [5], open: [6, 7] };
const sum = (counts, kinds) =>
  counts.reduce((n, own) => n + kinds.reduce((m, kind) => m + own[kind + 1], 0), 0);

function addEntities(section, entities, open) {
  const columns = [
    ["Checked", [0, 1, 2, 3, 6, 7]], ["Supported", KINDS.supported], ["Against", KINDS.against],
    ["Said", KINDS.said], ["Unsaid", KINDS.unsaid],
  ];
  addBrowser({
    section,
    of: "Entities",
    rows: entities,
    heads: [
      { text: say("Entity") }, { text: say("Domain") }, { text: say("Popularity") },
      ...columns.map(([name]) => ({ text: say(name), isNumber: true })),
    ],
    facets: [
      { name: say("Domain"), valueOf: (each) => each.domain, chips: true },
      { name: say("Popularity"), valueOf: (each) => each.popularity, chips: true },
      { name: say("Kind"), valueOf: (each) => each.kind || say("Real"), chips: true },
    ],
    textOf: (each) => `${each.name} ${each.domain} ${each.popularity} ${each.wikidata.split("/").at(-1)}`,
    cellsOf: (each) => [
      make("span", "", isolated(each.name), each.kind && ` (${each.kind})`),
      cell(each.domain), cell(each.popularity),
      ...columns.map(([, kinds]) => numberCell(sum(each.counts, kinds))),
    ],
    openedBy: (each) => Promise.resolve(entityDetails(each, open)),
  });
}

function entityDetails(entity, open) {
  const made = make("div");
  const links = [
    entity.page && link(entity.page, say("Article")),
    entity.wikidata && link(entity.wikidata, `Wikidata ${entity.wikidata.split("/").at(-1)}`),
  ].filter(Boolean);
  const line = make("p");
  links.forEach((each, place) => line.append(...(place ? [", ", each] : [each])));
  if (entity.counts.length) {
    const button = makeButton(say("Triples"), () => {
      open.verdicts?.narrow((verdict) => verdict.entity === entity.at, entity.name);
      document.querySelector("#triples-held").scrollIntoView();
    });
    line.append(" ", button);
  }
  if (line.childNodes.length) made.append(line);
  made.append(entity.counts.length ? countsTable(entity) : make("p", "quiet", say("Unsampled")));
  return made;
}

function countsTable(entity) {
  const kinds = held.verdicts.map((_, kind) => kind).filter((kind) => sum(entity.counts, [kind]));
  const names = [say("Model"), ...kinds.map((kind) => held.verdicts[kind])];
  const heads = make("tr", "", ...names.map((text, place) => makeHead({ text, isNumber: place > 0 })));
  const rows = entity.counts.map(([group, ...counts]) => {
    const who = make("th", "", isolated(held.groups[group].join(" ").trim()));
    who.scope = "row";
    return make("tr", "", who, ...kinds.map((kind) => numberCell(counts[kind])));
  });
  return make("div", "wide", make("table", "", make("thead", "", heads), make("tbody", "", ...rows)));
}

function addVerdicts(section, verdicts, entities) {
  const named = (each) => entities[each.entity]?.name ?? "";
  return addBrowser({
    section,
    of: "Verdicts",
    rows: verdicts,
    heads: ["Triple", "Verdict", "Direction", "Model", "Entity"].map((name) => ({ text: say(name) })),
    facets: [
      { name: say("Model"), valueOf: (each) => held.groups[each.group][0] },
      { name: say("Setting"), valueOf: (each) => held.groups[each.group][1] },
      { name: say("Direction"), valueOf: (each) => held.directions[each.direction] },
      { name: say("Verdict"), valueOf: (each) => held.verdicts[each.verdict] },
      { name: say("Family"), valueOf: (each) => each.family },
      { name: say("Domain"), valueOf: (each) => entities[each.entity]?.domain ?? "" },
    ],
    textOf: (each) => [...each.triple, named(each)].join(" "),
    cellsOf: (each) => [
      tripleShown(each.triple),
      cell(held.verdicts[each.verdict]),
      cell(held.directions[each.direction]),
      cell(isolated(held.groups[each.group].join(" ").trim()), "way"),
      cell(isolated(named(each)), "way"),
    ],
    openedBy: (each) => evidenceOf(each, entities[each.entity]),
  });
}

function tripleShown(parts) {
  const made = make("span");
  parts.forEach((part, place) => made.append(...(place ? [" \u00b7 ", isolated(part)] : [isolated(part)])));
  return made;
}

async function evidenceOf(verdict, entity) {
  const { each, pieces: names } = held.evidence;
  const rows = await readPiece(held, names[Math.floor(verdict.at / each)]);
  const [basis, reason, trouble, passage, title, url, source, response, whole, ...known] =
    rows[verdict.at % each];
  return facts(
    ...(whole ? [[say("Triple"), tripleShown(whole)]] : []),
    [say("Verdict"), `${held.verdicts[verdict.verdict]}${basis && ` (${basis})`}`],
    [say("Reason"), reason && isolated(reason)],
    [say("Trouble"), trouble],
    [say("RestsOn"), ...passageShown(passage, title, source, url)],
    [say("Known"), ...passageShown(known[0], known[1], source, known[2])],
    [say("Links"), ...entityLinks(entity)],
    [say("Response"), response && make("code", "", `proofstone show ${response}`)],
  );
}

function passageShown(text, title, source, url) {
  if (!text) return [""];
  const from = make("span");
  [title && isolated(title), source].filter(Boolean)
    .forEach((part, place) => from.append(...(place ? [", ", part] : [part])));
  if (url) from.append(" ", link(url, url));
  return [make("pre", "", text), from];
}

function entityLinks(entity) {
  if (!entity) return [""];
  return [
    entity.page && link(entity.page, say("Article")),
    entity.page && entity.wikidata && ", ",
    entity.wikidata && link(entity.wikidata, "Wikidata"),
  ].filter(Boolean);
}

addBrowsers();
