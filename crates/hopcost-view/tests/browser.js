// Runs in a page that holds each report in frames of several widths, and measures what a reader
// of each would have to put up with. The findings are written as JSON into #found.
addEventListener("load", () => {
  "use strict";
  const px = (element, document) =>
    parseFloat(document.defaultView.getComputedStyle(element).fontSize);

  // Texts of charts that are shown: the smallest, and those that leave their drawing.
  const texts = (document) => {
    let least = Infinity;
    const cut = [];
    for (const svg of document.querySelectorAll("svg.chart")) {
      const box = svg.getBoundingClientRect();
      if (!box.width) continue;
      for (const text of svg.querySelectorAll("text")) {
        const { left, right } = text.getBoundingClientRect();
        least = Math.min(least, px(text, document) * text.getScreenCTM().a);
        if (left < box.left - 1 || right > box.right + 1) cut.push(text.textContent);
      }
    }
    return { least: least === Infinity ? null : least, cut };
  };

  // Boxes that scroll sideways.
  const scrolled = (document) =>
    [...document.querySelectorAll(".scroll, figure")]
      .filter((box) => box.scrollWidth > box.clientWidth + 1)
      .map((box) => `${box.closest("section")?.id}: ${box.innerText.slice(0, 60)}`);

  // What sticks out of the page beside those boxes.
  const wide = (document) =>
    [...document.body.querySelectorAll(":not(svg *)")]
      .filter((element) => !element.parentNode.closest(".scroll, figure, .unseen"))
      .filter((element) => element.getBoundingClientRect().right > innerRight(document) + 1)
      .map((element) => `${element.tagName} ${element.className}`);
  const innerRight = (document) => document.documentElement.clientWidth;

  const links = (document) => [...document.querySelectorAll("nav a")].map((link) => link.hash);
  const dead = (document) =>
    links(document).filter((hash) => !document.getElementById(hash.slice(1)));

  // A heading is a button, for the keyboard too, and orders the numbers of its column.
  const sorted = (document) => {
    for (const table of document.querySelectorAll("table.sortable")) {
      const heads = [...[...table.tHead.rows].at(-1).cells];
      const rows = () => [...table.tBodies[0].rows];
      const keys = (at) => rows().map((row) => row.cells[at]?.dataset.v).filter(Boolean).map(Number);
      const at = heads.findIndex((head, at) => head.firstChild?.tagName === "BUTTON" && keys(at).length > 2);
      if (at < 0) continue;
      const [before, button] = [rows(), heads[at].firstChild];
      button.focus();
      const focused = document.activeElement === button || !button.getClientRects().length;
      button.click();
      const rising = keys(at).every((key, i, all) => !i || all[i - 1] <= key);
      button.click();
      const falling = keys(at).every((key, i, all) => !i || all[i - 1] >= key);
      button.click();
      return focused && rising && falling && rows().every((row, i) => row === before[i]);
    }
    return null;
  };

  // Pointing at a mark says what it is.
  const pointed = (document) => {
    const shown = (mark) => mark.getBoundingClientRect().width > 0;
    const mark = [...document.querySelectorAll(".m[transform]")].find(shown);
    if (!mark) return null;
    const { x, y, width, height } = mark.getBoundingClientRect();
    const at = { clientX: x + width / 2, clientY: y + height / 2, bubbles: true };
    mark.dispatchEvent(new PointerEvent("pointermove", at));
    const tip = document.querySelector(".tip");
    return !tip.hidden && tip.textContent.length > 3;
  };

  const found = [...document.querySelectorAll("iframe")].map((frame) => {
    const document = frame.contentDocument;
    const root = document.documentElement;
    const folds = [...document.querySelectorAll("main details")];
    const target = document.getElementById(frame.src.split("#")[1] ?? "");
    const closed = folds.filter((fold) => !fold.open);
    const height = root.scrollHeight;
    const reached = !target || !closed.some((fold) => fold.contains(target));
    folds.forEach((fold) => (fold.open = true));
    return {
      page: frame.getAttribute("src"),
      width: Number(frame.width),
      dark: frame.contentWindow.matchMedia("(prefers-color-scheme: dark)").matches,
      height,
      unfolded: root.scrollHeight,
      scroll: root.scrollWidth,
      client: root.clientWidth,
      reached,
      folded: closed.length,
      links: links(document).length,
      dead: dead(document),
      wide: wide(document),
      scrolled: scrolled(document),
      sorted: sorted(document),
      pointed: pointed(document),
      ...texts(document),
    };
  });
  document.querySelectorAll("iframe").forEach((frame) => frame.remove());
  document.getElementById("found").textContent = JSON.stringify(found);
});
