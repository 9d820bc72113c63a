// Every text of the page whose contrast with what lies behind it is below the least: [text, ratio].
(least) => {
  const colour = (text) => {
    const [r, g, b, alpha = 1] = text.match(/[\d.]+/g).map(Number);
    return { rgb: [r, g, b], alpha };
  };
  const over = ({ rgb, alpha }, ground) => rgb.map((c, i) => alpha * c + (1 - alpha) * ground[i]);
  const luminance = (rgb) => {  // WCAG 2.2, relative luminance
    const [r, g, b] = rgb.map((c) => c / 255)
      .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (a, b) => {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  const WHITE = [255, 255, 255];
  const grounds = new Map();
  const groundOf = (element) => {
    if (!element) return WHITE;
    if (!grounds.has(element)) {
      const own = colour(getComputedStyle(element).backgroundColor);
      grounds.set(element, own.alpha === 1 ? own.rgb : over(own, groundOf(element.parentElement)));
    }
    return grounds.get(element);
  };
  const filled = (element) => {
    const style = getComputedStyle(element);
    if (style.fill === "none") return null;
    const fill = colour(style.fill);
    if (style.filter.startsWith("invert(1) hue-rotate(180deg) brightness(0.5)")) {
      const [r, g, b] = fill.rgb.map((c) => 255 - c);  // then the matrix of a half turn of the hue
      const turned = [-0.574 * r + 1.43 * g + 0.144 * b, 0.426 * r + 0.43 * g + 0.144 * b,
        0.426 * r + 1.43 * g - 0.856 * b];
      fill.rgb = turned.map((c) => 0.5 * Math.min(Math.max(c, 0), 255));
    }
    return { rgb: fill.rgb, alpha: fill.alpha * style.fillOpacity * style.opacity };
  };
  const drawings = new Map();
  const shapesOf = (drawing) => {
    if (!drawings.has(drawing)) {
      const shapes = [...drawing.querySelectorAll("path, rect, circle")];
      drawings.set(drawing, shapes
        .map((shape) => ({ shape, fill: filled(shape), box: shape.getBoundingClientRect() }))
        .filter(({ fill }) => fill?.alpha));
    }
    return drawings.get(drawing);
  };
  // What the shapes of a drawing that come before a text paint at its middle.
  const paintedBehind = (text) => {
    const drawing = text.ownerSVGElement;
    const { x, y, width, height } = text.getBoundingClientRect();
    const middle = new DOMPoint(x + width / 2, y + height / 2);
    const holds = ({ shape, box }) =>
      box.left <= middle.x && middle.x <= box.right && box.top <= middle.y &&
      middle.y <= box.bottom && shape.compareDocumentPosition(text) &
        Node.DOCUMENT_POSITION_FOLLOWING &&
      shape.isPointInFill(middle.matrixTransform(shape.getScreenCTM().inverse()));
    return shapesOf(drawing).filter(holds)
      .reduce((ground, { fill }) => over(fill, ground), groundOf(drawing.parentElement));
  };
  const poor = [];
  const judge = (text, fore, ground) => {
    const found = ratio(over(fore, ground), ground);
    if (found < least) poor.push([text.trim().slice(0, 60), Math.round(found * 100) / 100]);
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const holder = texts.currentNode.parentElement;
    const said = texts.currentNode.data;
    if (!said.trim() || !holder.checkVisibility() || holder.closest("script")) continue;
    if (holder.ownerSVGElement) {
      const fill = filled(holder.closest("text") ?? holder);
      if (fill) judge(said, fill, paintedBehind(holder.closest("text") ?? holder));
    } else {
      judge(said, colour(getComputedStyle(holder).color), groundOf(holder));
    }
  }
  for (const field of document.querySelectorAll("input, select")) {
    if (field.checkVisibility()) {
      judge(field.tagName, colour(getComputedStyle(field).color), groundOf(field));
    }
  }
  return poor;
}
