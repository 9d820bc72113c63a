// Words for readers come from the page, in its language: data-says-* of <main>.
const says = document.querySelector("main").dataset;
const say = (name, values = {}) =>
  says[`says${name}`].replace(/\{(\w+)\}/g, (place, key) => values[key] ?? place);

function make(tag, className = "", ...content) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...content);
  return made;
}
