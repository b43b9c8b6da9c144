(() => {
  "use strict";
  const make = (tag, text) => Object.assign(document.createElement(tag), { textContent: text });

  // Sorting: a button in each heading; rows without a value stay last.
  for (const table of document.querySelectorAll("table.sortable")) {
    const body = table.tBodies[0];
    const planned = [...body.rows];
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      if (head.classList.contains("nosort")) return;
      const button = make("button", "");
      button.append(...head.childNodes);
      button.type = "button";
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const next = { ascending: "descending", descending: null }[head.ariaSort ?? ""];
        const direction = next === undefined ? "ascending" : next;
        heads.forEach((h) => h.removeAttribute("aria-sort"));
        if (direction) head.setAttribute("aria-sort", direction);
        table.classList.toggle("sorted", direction !== null);
        body.append(...(direction ? sorted(planned, column, direction) : planned));
      });
    });
  }
  function sorted(rows, column, direction) {
    const sign = direction === "ascending" ? 1 : -1;
    const numeric = rows.some((row) => row.cells[column]?.dataset.v);
    const key = (row) => {
      const cell = row.cells[column];
      if (!cell || cell.colSpan > 1) return null;
      if (!numeric) return cell.textContent || null;
      return cell.dataset.v ? Number(cell.dataset.v) : null;
    };
    const order = (a, b) => (numeric ? a - b : a.localeCompare(b));
    return rows
      .map((row) => [key(row), row])
      .sort(([a], [b]) =>
        a === null || b === null ? (a === null) - (b === null) : sign * order(a, b))
      .map(([, row]) => row);
  }

  // Hovering: the nearest mark says what it is, and its series stands out.
  const tip = make("div", "");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);
  for (const svg of document.querySelectorAll("svg.chart")) {
    // The browser's own hints would cover ours; aria-label stays.
    svg.querySelector(":scope > title")?.remove();
    const marks = [...svg.querySelectorAll(".m > title")].map((title) => {
      const mark = title.parentNode;
      title.remove();
      const at = mark.transform.baseVal.getItem(0).matrix;
      return { x: at.e, y: at.f, text: title.textContent, series: mark.parentNode };
    });
    let hot = null;
    const leave = () => {
      tip.hidden = true;
      svg.classList.remove("focus");
      hot?.classList.remove("hot");
      hot = null;
    };
    svg.addEventListener("pointerleave", leave);
    svg.addEventListener("pointermove", (event) => {
      const box = svg.getBoundingClientRect();
      const zoom = box.width / svg.viewBox.baseVal.width;
      const x = (event.clientX - box.left) / zoom;
      const y = (event.clientY - box.top) / zoom;
      let best = null;
      let least = 26 * 26;
      for (const mark of marks) {
        const far = (mark.x - x) ** 2 + (mark.y - y) ** 2;
        if (far < least) [best, least] = [mark, far];
      }
      if (!best) return leave();
      if (hot !== best.series) {
        hot?.classList.remove("hot");
        hot = best.series;
        hot.classList.add("hot");
        svg.classList.toggle("focus", hot.querySelector(".l") !== null);
      }
      tip.textContent = best.text;
      tip.hidden = false;
      const left = box.left + best.x * zoom + 14;
      const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
      tip.style.left = `${Math.max(8, Math.min(left, room)) + scrollX}px`;
      tip.style.top = `${box.top + best.y * zoom + 14 + scrollY}px`;
    });
  }

  // Copying.
  for (const pre of document.querySelectorAll("pre.command")) {
    if (!navigator.clipboard) break;
    const text = pre.textContent;
    const button = make("button", "copy");
    button.type = "button";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(text);
      button.textContent = "copied";
      setTimeout(() => (button.textContent = "copy"), 1500);
    });
    pre.append(button);
  }

  // A link to something folded unfolds it.
  const unfold = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const details = target?.closest("details");
    if (details && !details.open) {
      details.open = true;
      target.scrollIntoView();
    }
  };
  addEventListener("hashchange", unfold);
  unfold();
})();
