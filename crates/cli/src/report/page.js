"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  // The theme: the system's, or the reader's choice, kept where the browser keeps anything for files.
  const themes = ["system", "light", "dark"];
  const button = document.getElementById("theme");
  const kept = () => { try { return localStorage.getItem("trifold-theme"); } catch { return null; } };
  const keep = (theme) => { try { localStorage.setItem("trifold-theme", theme); } catch { /* then for this visit */ } };
  let theme = "system";
  const show = (wanted) => {
    theme = themes.includes(wanted) ? wanted : "system";
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = `Theme: ${theme}`;
  };
  show(kept());
  button.hidden = false;
  button.addEventListener("click", () => {
    show(themes[(themes.indexOf(theme) + 1) % themes.length]);
    keep(theme);
  });

  // A chart's text stays within the chart, however wide the reader's font is.
  const fit = () => {
    for (const text of all(".chart text")) {
      text.removeAttribute("textLength");
      const { x, width } = text.getBBox();
      const at = text.x.baseVal[0].value;
      const edge = text.ownerSVGElement.viewBox.baseVal.width - 8;
      const scale = Math.min((edge - at) / Math.max(x + width - at, 0), at / Math.max(at - x, 0));
      if (scale >= 1) continue;
      text.setAttribute("lengthAdjust", "spacingAndGlyphs");
      text.setAttribute("textLength", width * scale);
    }
  };
  fit();
  addEventListener("resize", fit);

  // A legend entry hides its line in the charts beside it.
  for (const entry of all(".legend button")) {
    entry.addEventListener("click", () => {
      const visible = entry.getAttribute("aria-pressed") === "false";
      entry.setAttribute("aria-pressed", String(visible));
      for (const line of all("[data-series]", entry.closest(".sub, .plots"))) {
        if (line.dataset.series === entry.dataset.key) line.style.display = visible ? "" : "none";
      }
      fit();
      leave();
    });
  }

  // A heading sorts its table: numbers by their values, the other direction the second time, what is empty last.
  for (const heading of all(".table thead th")) {
    heading.querySelector("button").addEventListener("click", () => {
      const descending = heading.getAttribute("aria-sort") === "ascending";
      for (const other of all("th", heading.parentNode)) other.setAttribute("aria-sort", "none");
      heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
      const body = heading.closest("table").tBodies[0];
      const at = heading.cellIndex;
      const isNumber = heading.classList.contains("number");
      const order = (a, b) => {
        const [x, y] = [a.cells[at], b.cells[at]];
        if (!isNumber) return (descending ? -1 : 1) * x.textContent.localeCompare(y.textContent);
        const [v, w] = [x, y].map((cell) => (cell.dataset.value === undefined ? NaN : Number(cell.dataset.value)));
        if (Number.isNaN(v) || Number.isNaN(w)) return Number.isNaN(v) - Number.isNaN(w);
        return (descending ? -1 : 1) * (v - w);
      };
      body.append(...[...body.rows].sort(order));
    });
  }

  // The figures of a point: under the pointer, or under the arrow keys.
  const box = document.getElementById("figures");
  let current = null;
  const leave = () => {
    current?.classList.remove("on");
    current = null;
    box.textContent = "";
  };
  const enter = (point) => {
    if (point === current) return;
    leave();
    current = point;
    point.classList.add("on");
    box.textContent = point.dataset.figures;
    const at = point.getBoundingClientRect();
    const size = box.getBoundingClientRect();
    const left = Math.min(Math.max(at.x + at.width / 2 - size.width / 2, 8), innerWidth - size.width - 8);
    const above = at.y - size.height - 6;
    box.style.left = `${left}px`;
    box.style.top = `${above > 8 ? above : at.bottom + 6}px`;
  };
  const shown = (plot) => all(".point", plot).filter((point) => point.parentNode.style.display !== "none");
  for (const plot of all(".plot")) {
    const nearest = (event) => {
      let best = null;
      let least = 32 * 32;
      for (const point of shown(plot)) {
        const at = point.getBoundingClientRect();
        const distance = (at.x + at.width / 2 - event.clientX) ** 2 + (at.y + at.height / 2 - event.clientY) ** 2;
        if (distance < least) [best, least] = [point, distance];
      }
      if (best) enter(best); else leave();
    };
    plot.addEventListener("pointermove", nearest);
    plot.addEventListener("pointerdown", nearest);
    // A finger that is lifted leaves what it tapped; the next tap, wherever, ends it.
    plot.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") leave(); });
    plot.addEventListener("blur", leave);
    plot.addEventListener("keydown", (event) => {
      const points = shown(plot);
      if (event.key === "Escape") return leave();
      const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
      if (!step || points.length === 0) return;
      event.preventDefault();
      if (!current || !plot.contains(current)) return enter(points[0]);
      const lines = [...new Set(points.map((point) => point.parentNode))];
      const line = lines.indexOf(current.parentNode);
      const own = points.filter((point) => point.parentNode === current.parentNode);
      if (step[1] !== 0 && own.length > 1) {
        return enter(own[Math.min(Math.max(own.indexOf(current) + step[1], 0), own.length - 1)]);
      }
      // The next line's point that is nearest in n.
      const next = lines[Math.min(Math.max(line + step[0] + (own.length > 1 ? 0 : step[1]), 0), lines.length - 1)];
      const x = Number(current.dataset.x);
      const near = points.filter((point) => point.parentNode === next);
      enter(near.sort((a, b) => Math.abs(a.dataset.x - x) - Math.abs(b.dataset.x - x))[0]);
    });
  }
  addEventListener("pointerdown", (event) => { if (!event.target.closest(".plot")) leave(); });
  addEventListener("scroll", leave, { passive: true });
})();
