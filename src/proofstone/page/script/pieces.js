// Rows that a page holds in pieces: within it, or in files of a folder beside it, each read once,
// when it is first asked for. A file is a script that hands its rows over, for a page that is opened
// from a disk may fetch nothing.
class MissingFile extends Error {}

// What a reader sees in place of rows: which file is missing, or what else went wrong.
function troubleShown(trouble) {
  const said = trouble instanceof MissingFile
    ? say("Missing", { file: trouble.message })
    : say("Broken", { what: trouble.message });
  return make("p", "note", said);
}

const pieces = new Map();
const awaited = new Map();
globalThis.proofstoneHeld = (stamp, name, rows) => awaited.get(`${stamp} ${name}`)?.(rows);

function readPiece(held, name) {
  if (!pieces.has(name)) pieces.set(name, withinPage(name) ?? fromFile(held, name));
  return pieces.get(name);
}

function withinPage(name) {
  const block = document.getElementById(`held-${name}`);
  return block && Promise.resolve(JSON.parse(block.textContent));
}

function fromFile(held, name) {
  return new Promise((done, fail) => {
    awaited.set(`${held.stamp} ${name}`, done);
    const script = make("script");
    script.src = `${encodeURIComponent(held.folder)}/${name}.js`;
    // Rows of this page have come before: a file of another page, or none, is no answer.
    script.onload = script.onerror = () => {
      fail(new MissingFile(`${held.folder}/${name}.js`));
      script.remove();
    };
    document.head.append(script);
  });
}

const readAll = async (held, names) =>
  (await Promise.all(names.map((name) => readPiece(held, name)))).flat();
