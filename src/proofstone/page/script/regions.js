// A table or figure that fits its place is no region to scroll: its header then sticks to the window,
// and the Tab key passes it by. A wider one scrolls by itself, with its header in sight.
function watchWidth(regions) {
  const watched = new ResizeObserver((entries) => {
    for (const { target } of entries) settleWidth(target.closest(".wide"));
  });
  for (const region of regions) {
    watched.observe(region);
    if (region.firstElementChild) watched.observe(region.firstElementChild);
  }
}

function scrollsDown(region) {
  return region.scrollHeight > region.clientHeight + 1 && getComputedStyle(region).overflowY !== "visible";
}

function settleWidth(region) {
  const scrolls = region.scrollWidth > region.clientWidth + 1;
  region.classList.toggle("scrolls", scrolls);
  region.classList.toggle("fits", !scrolls);
  const isReached = scrolls || scrollsDown(region);
  if (isReached) region.tabIndex = 0;
  else region.removeAttribute("tabindex");
  if (region.getAttribute("role") !== "img") region.setAttribute("role", scrolls ? "region" : "group");
}
