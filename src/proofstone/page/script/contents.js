// The navigation marks the chapter that is being read.
function markCurrent(nav) {
  const links = [...nav.querySelectorAll("a")];
  const places = links.map((link) => document.getElementById(link.hash.slice(1)));
  const mark = () => {
    const passed = places.filter((place) => place && place.getBoundingClientRect().top < 80);
    const current = places.indexOf(passed.at(-1) ?? places[0]);
    links.forEach((link, at) => {
      if (at === current) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
  };
  addEventListener("scroll", mark, { passive: true });
  mark();
}
